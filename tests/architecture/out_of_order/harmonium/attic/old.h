#include "harmonium/core/key.h"
