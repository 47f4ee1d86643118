#include "harmonium/geometry/metric.h"
#include "harmonium/models/machine.h"  // offence
