import { testRunStore } from "evaluator-runs/contract";
import { startMemoryStore } from "../testing/memory-store.ts";

testRunStore(async () => startMemoryStore(), { hasClock: true });
