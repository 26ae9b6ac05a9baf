import { mailState, triageQuestions as questions, verifyMailAnswers } from "../sample-requests.ts";
import { serveParent } from "evaluator-kit/child";
import { measureAllocation, type RoundOptions, runRound, type VerifiedCall } from "./run-round.ts";
import { type TargetName, targets, type TargetSetUp } from "./targets.ts";

/** The target and the addresses of a process. */
export interface AskingSetUp extends TargetSetUp {
  readonly target: TargetName;
}

let call: VerifiedCall = () => Promise.reject(new Error("No target is set up."));

const service = {
  async setUp({ target, ...setUp }: AskingSetUp): Promise<void> {
    const ask = await targets[target].open(setUp);
    call = async (number) => verifyMailAnswers(await ask({ state: mailState(number), questions }));
  },
  run: (options: RoundOptions) => runRound(call, options),
  measureAllocation: (calls: number) => measureAllocation(call, calls),
};

/** The calls that an asking process takes. */
export type AskingService = typeof service;

serveParent(service);
