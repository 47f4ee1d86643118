#include "harmonium/geometry/metric.h"

#include <vector>

#include "harmonium/core/key.h"
#include "harmonium/kernels/random.h"
