#include "harmonium/data/dataset.h"  // offence
