import type { Questions } from "evaluator-client";
import { mailState } from "../sample-requests.ts";
import { serveParent } from "evaluator-cli-kit/child";
import { verifierFor } from "../server/replies.ts";
import { measureAllocation, type RoundOptions, runRound, type VerifiedCall } from "./run-round.ts";
import type { TargetSetUp } from "../targets/target.ts";
import { type TargetName, targets } from "../targets/targets.ts";

/** What a process is set up with: who asks, where, and what. */
export interface AskingSetUp extends TargetSetUp {
  readonly target: TargetName;
  readonly questions: Questions;
}

let call: VerifiedCall = () => Promise.reject(new Error("No target is set up."));

const service = {
  async setUp({ target, questions, ...setUp }: AskingSetUp): Promise<void> {
    const open = await targets[target].load();
    const ask = await open(setUp);
    const verify = verifierFor(questions);
    call = async (number) => verify(await ask({ state: mailState(number), questions }));
  },
  run: (options: RoundOptions) => runRound(call, options),
  measureAllocation: (calls: number) => measureAllocation(call, calls),
};

/** What an asking process does when asked. */
export type AskingService = typeof service;

serveParent(service);
