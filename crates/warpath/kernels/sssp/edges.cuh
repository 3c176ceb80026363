// How kernels read the arcs of a list: from an array each for tails, heads and weights, or from one array of records.
//
// A warp that reads the tails of 32 arcs takes 128 bytes from an array of tails, and touches 384 bytes of records. A
// kernel is a template over one of the two structs here, `FromArrays` and `FromRecords`. Its argument has the pointers
// `tails`, `heads` and `weights`, and `records`; those of the other form are null.
#pragma once

#include "../device.cuh"

/// An arc of the list, 12 bytes with weights of 4.
template <class Weight>
struct Record {
    u32 tail, head;
    Weight weight;
};

/// Three arrays.
struct FromArrays {
    template <class Search>
    static __device__ __forceinline__ u32 tail(const Search& search, u64 arc) {
        return search.tails[arc];
    }
    template <class Search>
    static __device__ __forceinline__ u32 head(const Search& search, u64 arc) {
        return search.heads[arc];
    }
    template <class Search>
    static __device__ __forceinline__ auto weight(const Search& search, u64 arc) {
        return search.weights[arc];
    }
};

/// One array of records.
struct FromRecords {
    template <class Search>
    static __device__ __forceinline__ u32 tail(const Search& search, u64 arc) {
        return search.records[arc].tail;
    }
    template <class Search>
    static __device__ __forceinline__ u32 head(const Search& search, u64 arc) {
        return search.records[arc].head;
    }
    template <class Search>
    static __device__ __forceinline__ auto weight(const Search& search, u64 arc) {
        return search.records[arc].weight;
    }
};
