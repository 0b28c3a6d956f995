/* The loader's file with another name of what it begins with: this machine has a `main`. */
#define main kiwicha_loader_main

#include "../../firmware/boot/loader.c"
