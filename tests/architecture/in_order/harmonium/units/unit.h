#include "harmonium/core/key.h"
#include "harmonium/units/other.h"
// #include "harmonium/cli/main.h"
