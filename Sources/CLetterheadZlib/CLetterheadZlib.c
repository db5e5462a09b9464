#include "CLetterheadZlib.h"
