#include "harmonium/core/format.h"
#include "harmonium/kernels/random.h"  // offence
