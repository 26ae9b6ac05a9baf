import { type createCommand, wholeNumber } from "evaluator-kit";
import { type ProgramContext, runAction, sharedOptions } from "evaluator-runs/commands";

type Command = ReturnType<typeof createCommand>;

/** Adds the commands that act on a mailbox: plan, apply and undo. */
export function addActs(program: Command, context: ProgramContext): void {
  program
    .command("plan")
    .summary("write what rules would do in a mailbox")
    .description("Actions: archive, junk, move FOLDER, keyword NAME, flag and read.")
    .argument("<file>", "mails imported from a mailbox or an export")
    .requiredOption("--rules <file>", "rules, one a line, such as scam >= 0.9 -> junk")
    .option("--output <plan>", "file of the plan (default: inbox.plan.ndjson)")
    .option("--mailbox <url>", "find an export's mails in imaps://USER@HOST/FOLDER")
    .addOption(sharedOptions.journal(context.source))
    .addOption(sharedOptions.run)
    .addOption(sharedOptions.calibration)
    .action(async (file, options) => {
      const { writePlan } = await import("./write-plan.ts");
      await runAction(context, () => writePlan({ ...options, file }, context));
    });
  program
    .command("apply")
    .summary("carry out a plan")
    .description("It moves mails and sets flags and keywords.")
    .argument("<plan>", "the file that plan wrote")
    .option("--yes", "also apply rules without a promise")
    .option("--limit <n>", "mails at most", wholeNumber({ minimum: 1 }), 1000)
    .action(async (planPath, options) => {
      const { applyPlan } = await import("./apply-plan.ts");
      await runAction(context, () => applyPlan({ ...options, plan: planPath }, context));
    });
  program
    .command("undo")
    .description("take back what apply did; your changes stay")
    .argument("<plan>", "the file that plan wrote")
    .action(async (planPath) => {
      const { undoPlan } = await import("./apply-plan.ts");
      await runAction(context, () => undoPlan(planPath, context));
    });
}
