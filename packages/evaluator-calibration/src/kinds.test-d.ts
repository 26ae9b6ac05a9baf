import type { KindName } from "evaluator-client";
import { expectTypeOf } from "vitest";
import type { kinds } from "./kinds.ts";

// Each kind of the client has a row.
expectTypeOf<keyof typeof kinds>().toEqualTypeOf<KindName>();
