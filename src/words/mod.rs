//! Layer 1: the message catalogue, and how numbers and durations are worded.
