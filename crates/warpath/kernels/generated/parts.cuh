// Made from `src/cuda/parts/mail.rs`. `src/cuda/kernel_header.rs` says how to refresh it.
#pragma once
#include "../layout.cuh"

namespace parts {

/// What is on its way to other parts.
struct Mail {
    const u32* starts;  // Where the ghosts of each part begin, and where the last ones end; so do the outboxes.
    const u32* packed;  // Where the messages of each part begin in the mail, and where the last ones end.
    const u32* numbers;  // The number of each ghost in its own part.
    u32* posted;  // How many ghosts of each part were posted.
    u32* outbox;
    u32* words;  // The mail: messages of a few words each.
    u32 parts;
};
static_assert(sizeof(Mail) == 56, "");
static_assert(offsetof(Mail, starts) == 0, "");
static_assert(offsetof(Mail, packed) == 8, "");
static_assert(offsetof(Mail, numbers) == 16, "");
static_assert(offsetof(Mail, posted) == 24, "");
static_assert(offsetof(Mail, outbox) == 32, "");
static_assert(offsetof(Mail, words) == 40, "");
static_assert(offsetof(Mail, parts) == 48, "");

}  // namespace parts
