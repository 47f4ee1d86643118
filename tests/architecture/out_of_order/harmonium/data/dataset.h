#include "harmonium/data/catalog/catalog.h"  // offence
#include "harmonium/data/formats/npy.h"  // offence
