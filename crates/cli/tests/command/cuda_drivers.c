// A stub CUDA driver for tests: one device, which uses host memory and whose kernels do nothing.
// STUB_FAILS=NAME=ERROR makes that function fail; STUB_VERSION and STUB_DEVICES set the version and the device count.
// Every function is on its own line, since tests leave some out.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long address;

static int number(const char *variable, int otherwise) {
    const char *text = getenv(variable);
    return text ? atoi(text) : otherwise;
}

static int planted(const char *name) {
    const char *text = getenv("STUB_FAILS");
    size_t length = strlen(name);
    return text && !strncmp(text, name, length) && text[length] == '=' ? atoi(text + length + 1) : 0;
}

#define F(name, parameters, body) int name parameters { int fails = planted(#name); if (fails) return fails; body; return 0; }

static int attribute(int which) {
    switch (which) {
    case 75: return 9; // compute capability
    case 76: return 0;
    case 16: return 132; // multiprocessors
    case 97: return 227 << 10; // shared memory of a block
    case 1: return 1024; // threads of a block
    case 38: return 50 << 20; // the second-level cache
    default: return 1;
    }
}

F(cuInit, (unsigned flags), )
F(cuDriverGetVersion, (int *version), *version = number("STUB_VERSION", 13000))
F(cuGetErrorName, (unsigned error, const char **text), if (error > 10000) return 1; *text = "CUDA_ERROR_PLANTED")
F(cuGetErrorString, (unsigned error, const char **text), if (error > 10000) return 1; *text = "planted")
F(cuDeviceGetCount, (int *count), *count = number("STUB_DEVICES", 1))
F(cuDeviceGet, (int *device, int ordinal), *device = ordinal)
F(cuDeviceGetName, (char *name, int length, int device), snprintf(name, length, "stub"))
F(cuDeviceGetUuid_v2, (char *uuid, int device), for (int k = 0; k < 16; k++) uuid[k] = device + 1)
F(cuDeviceGetAttribute, (int *value, int which, int device), *value = attribute(which))
F(cuDeviceTotalMem_v2, (size_t *bytes, int device), *bytes = 1 << 30)
F(cuCtxCreate_v4, (void **context, void *parameters, unsigned flags, int device), *context = malloc(1))
F(cuCtxDestroy_v2, (void *context), free(context))
F(cuCtxEnablePeerAccess, (void *context, unsigned flags), )
F(cuCtxGetCurrent, (void **context), *context = 0)
F(cuCtxPushCurrent_v2, (void *context), )
F(cuCtxPopCurrent_v2, (void **context), *context = 0)
F(cuCtxSynchronize, (void), )
F(cuDevicePrimaryCtxRetain, (void **context, int device), *context = malloc(1))
F(cuPointerGetAttribute, (void *value, int which, address at), *(int *)value = 0)
F(cuMemGetInfo_v2, (size_t *free, size_t *total), *free = *total = 1 << 30)
F(cuMemAlloc_v2, (address *to, size_t bytes), *to = (address)aligned_alloc(4096, (bytes + 4095) / 4096 * 4096); memset((void *)*to, 0, bytes))
F(cuMemFree_v2, (address memory), free((void *)memory))
F(cuMemHostAlloc, (void **to, size_t bytes, unsigned flags), *to = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096))
F(cuMemFreeHost, (void *memory), free(memory))
F(cuMemHostRegister_v2, (void *memory, size_t bytes, unsigned flags), )
F(cuMemHostUnregister, (void *memory), )
F(cuMemcpyHtoDAsync_v2, (address to, const void *from, size_t bytes, void *stream), memcpy((void *)to, from, bytes))
F(cuMemcpyDtoHAsync_v2, (void *to, address from, size_t bytes, void *stream), memcpy(to, (void *)from, bytes))
F(cuMemcpyDtoDAsync_v2, (address to, address from, size_t bytes, void *stream), memcpy((void *)to, (void *)from, bytes))
F(cuMemcpyPeerAsync, (address to, void *there, address from, void *here, size_t bytes, void *stream), memcpy((void *)to, (void *)from, bytes))
F(cuMemsetD32Async, (address to, unsigned value, size_t words, void *stream), while (words--) ((unsigned *)to)[words] = value)
F(cuModuleLoadData, (void **module, const void *image), *module = malloc(1))
F(cuModuleGetFunction, (void **function, void *module, const char *name), *function = malloc(1))
F(cuFuncGetAttribute, (int *value, int which, void *function), *value = 0)
F(cuFuncSetAttribute, (void *function, int which, int value), )
F(cuOccupancyMaxActiveBlocksPerMultiprocessor, (int *blocks, void *function, int threads, size_t shared), *blocks = 1)
F(cuLaunchKernelEx, (const void *config, void *function, void **parameters, void **extra), )
F(cuStreamCreate, (void **stream, unsigned flags), *stream = malloc(1))
F(cuStreamSynchronize, (void *stream), )
F(cuStreamWaitEvent, (void *stream, void *event, unsigned flags), )
F(cuEventCreate, (void **event, unsigned flags), *event = malloc(1))
F(cuEventDestroy_v2, (void *event), free(event))
F(cuEventQuery, (void *event), )
F(cuEventRecord, (void *event, void *stream), )
F(cuEventSynchronize, (void *event), )
F(cuEventElapsedTime_v2, (float *milliseconds, void *start, void *end), *milliseconds = 0)
