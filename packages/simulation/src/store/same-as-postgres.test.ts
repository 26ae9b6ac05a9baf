import { testSameCalls } from "../testing/same-calls.ts";

// Of 500, which `npm run test:postgres` plays.
testSameCalls(100);
