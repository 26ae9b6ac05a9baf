import type { Questions } from "evaluator-client";
import { mailState } from "../../exchange/mail-state.ts";
import { serveParent } from "../../process/child-service.ts";
import { measureAllocation } from "../measure-allocation.ts";
import { type RoundOptions, runRound, type VerifiedCall } from "../run-round.ts";
import type { TargetSurroundings } from "../target.ts";
import { type TargetName, targets } from "../targets.ts";
import { verifierFor } from "../verify-answers.ts";

/** What a process is set up with: who asks, where, and what. */
export interface AskingSetUp extends TargetSurroundings {
  readonly target: TargetName;
  readonly questions: Questions;
}

let call: VerifiedCall = () => Promise.reject(new Error("No target is set up."));

const service = {
  async setUp({ target, questions, ...surroundings }: AskingSetUp): Promise<void> {
    const open = await targets[target].load();
    const ask = await open(surroundings);
    const verify = verifierFor(questions);
    call = async (number) => verify(await ask({ state: mailState(number), questions }));
  },
  run: (options: RoundOptions) => runRound(call, options),
  measureAllocation: (calls: number) => measureAllocation(call, calls),
};

/** What an asking process does when asked. */
export type AskingService = typeof service;

serveParent(service);
