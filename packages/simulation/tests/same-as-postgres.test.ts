import { testSameCalls } from "../src/testing/same-calls.ts";

testSameCalls(500);
