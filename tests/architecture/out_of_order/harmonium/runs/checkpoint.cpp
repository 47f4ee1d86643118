#include "harmonium/models/machine.h"
#include "harmonium/report/page.h"  // offence
