#include "harmonium/gradients/cd.h"  // offence
#include "harmonium/models/machine.h"  // offence
#include "harmonium/samplers/gibbs.h"  // offence
#include "harmonium/units/unit.h"  // offence
