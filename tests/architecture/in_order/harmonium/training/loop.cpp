#include "harmonium/models/machine.h"
#include "harmonium/training/step_rule.h"
