// SPDX-License-Identifier: MIT
// Counts the memory allocations of the whole process while counting is on. Linux with glibc only.

/// Whether allocations can be counted here.
int count_allocations_works(void);

/// Starts at zero.
void count_allocations_start(void);

/// Stops, and says how many there were: malloc, calloc, realloc and the aligned ones.
long count_allocations_stop(void);
