import { createHash } from "node:crypto";
import { cache, type CacheOptions } from "../middleware/cache.ts";

// The platform's hash waits for a thread, which takes seconds on a busy machine.
const runtime = {
  sha256: async (bytes: Uint8Array) =>
    new Uint8Array(createHash("sha256").update(bytes).digest()).buffer,
};

/** A cache that hashes at once. */
export const hashedCache = (options: CacheOptions = {}) => cache(options, runtime);
