import { serveParent } from "evaluator-kit/child";
import { roundsOf } from "./run-round.ts";
import { openTarget } from "../targets.ts";

const service = roundsOf(openTarget);

/** The calls that an asking process takes. */
export type AskingService = typeof service;

serveParent(service);
