// The header is all there is to it: QuantKernelsC implements its functions.
#include "afm_kernels.h"
