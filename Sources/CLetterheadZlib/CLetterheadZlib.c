// SPDX-License-Identifier: MIT
#include "CLetterheadZlib.h"
