import { z } from "zod";
import type { Content } from "./evaluation-input.ts";
import { isJsonRecord } from "./json-record.ts";

/** A state, an instruction or a description: text, an object or a list, never null (field fact). */
export const contentSchema = z.custom<Content>(
  (value) => typeof value === "string" || Array.isArray(value) || isJsonRecord(value),
  { error: "expected text, an object or a list" },
);
