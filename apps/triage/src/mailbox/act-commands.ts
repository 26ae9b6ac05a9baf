import { type createCommand, wholeNumber } from "evaluator-kit";
import { type ProgramContext, runAction, sharedOptions } from "evaluator-runs/commands";

type Command = ReturnType<typeof createCommand>;

/** Adds the commands that act on a mailbox: plan, apply and undo. */
export function addActs(program: Command, context: ProgramContext): void {
  program
    .command("plan")
    .summary("write what rules would do with the mails of a mailbox")
    .description(
      "The plan is for apply. Actions: archive, junk, move FOLDER, keyword NAME, flag and read.",
    )
    .argument("<file>", "the mails that were imported from a mailbox, or from an export")
    .requiredOption("--rules <file>", "rules, one a line, such as scam >= 0.9 -> junk")
    .option("--output <plan>", "the file to make (default: inbox.plan.ndjson)")
    .option("--mailbox <url>", "find the mails of an export in imaps://USER@HOST/FOLDER")
    .addOption(sharedOptions.journal(context.source))
    .addOption(sharedOptions.run)
    .addOption(sharedOptions.calibration)
    .action(async (file, options) => {
      const { writePlan } = await import("./write-plan.ts");
      await runAction(context, () => writePlan({ ...options, file }, context));
    });
  program
    .command("apply")
    .summary("carry out a plan, and nothing else")
    .description("It moves mails, and sets flags and keywords, as the plan names them.")
    .argument("<plan>", "the file that plan wrote")
    .option("--yes", "apply also the rules without a promise")
    .option("--limit <n>", "mails at most", wholeNumber({ minimum: 1 }), 1000)
    .action(async (planPath, options) => {
      const { applyPlan } = await import("./apply-plan.ts");
      await runAction(context, () => applyPlan({ ...options, plan: planPath }, context));
    });
  program
    .command("undo")
    .description("take back what apply did with a plan; your changes since then stay")
    .argument("<plan>", "the file that plan wrote")
    .action(async (planPath) => {
      const { undoPlan } = await import("./apply-plan.ts");
      await runAction(context, () => undoPlan(planPath, context));
    });
}
