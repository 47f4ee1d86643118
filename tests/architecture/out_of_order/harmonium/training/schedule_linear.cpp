#include "harmonium/models/machine.h"  // offence
