import { z } from "zod";

const identifiedSchema = z.object({ id: z.string().min(1) });

/** Gives the id of a record that may be wrong in every other way, or null when it has none. */
export function recordId(record: unknown): string | null {
  return identifiedSchema.safeParse(record).data?.id ?? null;
}
