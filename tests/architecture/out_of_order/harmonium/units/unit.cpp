#include "harmonium/core/key.h"
  #  include <harmonium/training/loop.h>  // offence
#include "../core/key.h"  // offence
#include "harmonium/cellar/secret.h"  // offence
