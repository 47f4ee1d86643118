#include "harmonium/geometry/metric.h"
#include "harmonium/training/step_rule.h"
