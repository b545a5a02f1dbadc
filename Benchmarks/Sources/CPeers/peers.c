#include "peers.h"

#include <dlfcn.h>

const peer_functions *peers_load(const char *path, const char **error) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void *symbol = library ? dlsym(library, PEERS_SYMBOL) : NULL;
  if (!symbol) {
    if (error) *error = dlerror();
    return NULL;
  }
  return (const peer_functions *)symbol;
}
