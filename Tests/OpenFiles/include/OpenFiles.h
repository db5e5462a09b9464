// Raises what a shell allows of open files, often 1,024 or 256, to what the system does, or 10,240: tests that run side by side, each
// with a server of its own, need a few thousand. It happens as a program starts that links this.
