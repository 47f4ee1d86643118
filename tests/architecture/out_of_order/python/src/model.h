#include "harmonium/cli/command.h"  // offence
#include "harmonium/runs/checkpoint.h"
