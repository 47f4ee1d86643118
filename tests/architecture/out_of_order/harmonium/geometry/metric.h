#include "harmonium/units/unit.h"
#include "harmonium/models/machine.h"  // offence
#include "harmonium/samplers/gibbs.h"  // offence
#include "harmonium/gradients/cd.h"  // offence
