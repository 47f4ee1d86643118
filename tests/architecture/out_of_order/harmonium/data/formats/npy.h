#include "harmonium/data/dataset.h"
#include "harmonium/runs/checkpoint.h"  // offence
