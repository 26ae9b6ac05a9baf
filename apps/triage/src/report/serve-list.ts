import type { CalibrationArtifact } from "evaluator-calibration";
import { CliError, exitCodes } from "evaluator-kit";
import type { ProgramContext } from "evaluator-runs/commands";
import {
  answerKeys,
  auditLines,
  drawSpotChecks,
  labelApp,
  type LabelledAnswers,
  LabelFile,
  openLabelled,
  ownPage,
  servePage,
} from "evaluator-runs/label";
import { z } from "zod";

/**
 * Returns the current page of a list, with a button that brings back the last group put away; the record of each id on it,
 * with the records that belong to it; and the groups by name.
 */
type ReadList = (page: {
  readonly notesOf: (calibration: CalibrationArtifact | null) => string[];
  readonly hasLastGroup: boolean;
}) => Promise<{
  readonly html: string;
  readonly threads: ReadonlyMap<string, { readonly id: string; readonly ids: readonly string[] }>;
  readonly groups: ReadonlyMap<string, readonly string[]>;
}>;

/** Adds further pages beside the list. */
type AddRoutes = (app: ReturnType<typeof ownPage>) => void;

const choiceSchema = z.object({
  id: z.string().default(""),
  /** Puts away all records of a group, in place of those that go with an id; `last` is the group before. */
  group: z.string().optional(),
  choice: z.enum(["done", "snooze", "wrong", "open"]),
  until: z.iso.date().optional().catch(undefined),
  /** The question, and the index of its right answer. */
  right: z.string().default(""),
});
/** After each day of a snooze: it means done. */
const NEVER = "9999-12-31";
const labeler = "person";

/** Serves a list on this machine and keeps each choice at once, until Ctrl-C; returns the exit code. */
export async function serveList(
  command: Parameters<typeof openLabelled>[0] & { readonly port: number },
  context: ProgramContext,
  { readList, addRoutes }: { readonly readList: ReadList; readonly addRoutes: AddRoutes },
): Promise<number> {
  const { stderr, signal, clock, source } = context;
  const {
    answers,
    labelsPath,
    name: journal,
    stateOf,
    putAway,
  } = await openLabelled(command, context);
  using labels = await LabelFile.open(labelsPath);
  const sheets = drawSpotChecks(answers, labels, new Date(clock.epochNow()));
  const [first] = sheets;
  if (first === undefined) throw new CliError("No answers yet; start a run first.");
  const app = ownPage();
  let list: Awaited<ReturnType<ReadList>> | null = null;
  let lastGroup: readonly string[] | undefined;
  app.get("/", async (c) => {
    list = await readList({
      notesOf: (calibration) => auditLines(answers, labels, calibration),
      hasLastGroup: lastGroup !== undefined,
    });
    return c.html(list.html);
  });
  addRoutes(app);
  app.post("/choices", async (c) => {
    const { data } = choiceSchema.safeParse(await c.req.parseBody());
    const thread = list?.threads.get(data?.id ?? "");
    const name = data?.group;
    const group = name === "last" ? lastGroup : list?.groups.get(name ?? "");
    const right = rightAnswer(data?.right ?? "", answers);
    const until = { done: NEVER, open: "", snooze: data?.until, wrong: undefined };
    const day = until[data?.choice ?? "wrong"];
    const ids = group ?? thread?.ids;
    if (ids !== undefined && day !== undefined) {
      await putAway(ids, day);
      if (group !== undefined) lastGroup = name === "last" ? undefined : group;
    } else if (thread !== undefined && right !== null && data?.choice === "wrong")
      await labels.save({ id: thread.id, ...right, labeler, origin: "override" });
    else return c.text("This page has no such choice; load it again.", 400);
    return c.text("Saved.");
  });
  const nextCommand = `evaluator-cli calibrate ${labels.path} --answers ${journal}`;
  const about = { sheets, first, labels, labeler, nextCommand, stateOf };
  const pages = [
    { href: "../", name: "List" },
    { href: "./", name: "Label", isCurrent: true },
  ];
  const { program } = source;
  app.route("/check", labelApp({ ...about, program, pages, finish: (c) => c.redirect("/", 303) }));
  await servePage(app, { port: command.port, signal, stderr }, (origin) => {
    stderr.write(`List at ${origin}; choices are saved at once. Ctrl-C ends this.\n`);
  });
  return exitCodes.done;
}

function rightAnswer(text: string, { questions }: LabelledAnswers) {
  const [, id = "", index] = /^(.+):(\d{1,3})$/s.exec(text) ?? [];
  const question = questions.get(id);
  const answer = question && answerKeys(question)[Number(index)];
  return answer === undefined ? null : { question: id, truth: answer.truth };
}
