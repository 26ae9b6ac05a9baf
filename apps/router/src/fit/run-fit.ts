import { hash } from "node:crypto";
import { resolve } from "node:path";
import { checkOutput, type CliContext, CliError, exitCodes, writeWholeFile } from "evaluator-kit";
import { readSomeLabels, readPrompts, toText } from "../labels/read-labels.ts";
import { tierCosts, toTierPoints } from "../labels/tier-points.ts";
import { readRouterOptions } from "../router-options.ts";
import { connectServices } from "../services/connect-services.ts";
import { printFit, readFit } from "./artifact.ts";
import { fitLabels } from "./fit-labels.ts";

type FitOptions = Parameters<typeof fitLabels>[1] &
  Readonly<{ out: string; json?: true | undefined }>;

/** Fits the labels of a file, and writes the fit if it may be used. */
export async function runFit(
  labelsFile: string,
  command: FitOptions,
  context: CliContext,
): Promise<void> {
  const { env, cwd, stdout, stderr, signal } = context;
  const options = await readRouterOptions(env, cwd);
  const { tierModels } = options;
  await checkOutput(resolve(cwd, command.out), [resolve(cwd, labelsFile)], { isOwn: isFit });
  const labels = await readSomeLabels(resolve(cwd, labelsFile), (text) => void stderr.write(text));
  const services = connectServices(options);
  try {
    const tierPrices = await tierCosts(services, signal);
    const { fit, ...result } = fitLabels(toTierPoints(labels, tierModels, tierPrices.of), command);
    if (fit !== null) {
      const labelsHash = hash("sha256", JSON.stringify(labels), "hex");
      const text = printFit({ ...fit, tiers: tierModels, prices: tierPrices.prices, labelsHash });
      await writeWholeFile(resolve(cwd, command.out), text, { isPublic: true });
    }
    const printedResult = { ...result, artifact: fit && command.out };
    stdout.write(
      command.json === true ? `${JSON.stringify(printedResult)}\n` : describe(printedResult),
    );
    if (result.verdict === "cannot-tell") context.exitCode = exitCodes.notEnoughEvidence;
  } finally {
    await services.close();
  }
}

function isFit(fileBeginning: string): boolean {
  return /^\{"version":\d+,.*"weights":\[/.test(fileBeginning);
}

type Printed = Pick<ReturnType<typeof fitLabels>, "sentence" | "heldOut">;

function describe({ sentence, heldOut, artifact }: Printed & { artifact: string | null }): string {
  const [apgr, lengthApgr] = [heldOut.apgr, heldOut.length].map((each) => each?.toFixed(3) ?? "–");
  const nextStep = artifact === null ? "" : `Start the router with ROUTER_FIT=${artifact}\n`;
  return `${sentence}\nAPGR on held-out labels: ${apgr}; by prompt length: ${lengthApgr}; chance: 0.5.\n${nextStep}`;
}

/** Prints the decision of a fit for each prompt of a file. */
export async function applyFit(fitFile: string, file: string, context: CliContext): Promise<void> {
  const { env, cwd, stdout } = context;
  const { tierModels } = await readRouterOptions(env, cwd);
  const fit = await readFit(resolve(cwd, fitFile), tierModels);
  for await (const { prompt, where, number } of readPrompts(resolve(cwd, file))) {
    const { id, messages, probabilities } = prompt;
    const problem = `${where}: has no probabilities, which this fit needs.`;
    if (fit.needsEvaluation && probabilities === null) throw new CliError(problem);
    const tierDecision = fit.decide(toText(messages), probabilities);
    stdout.write(`${JSON.stringify({ id: id ?? number, ...tierDecision })}\n`);
  }
}
