import { type CliContext, page } from "evaluator-kit";
import { html } from "evaluator-kit/html";
import { labelApp, servePage } from "evaluator-runs/label";

type LabelOptions = Parameters<typeof labelApp>[0];

/** The page, and the steps that it leads through. */
interface DemoPage extends Pick<LabelOptions, "labels" | "labeler" | "stateOf"> {
  readonly sheet: LabelOptions["first"];
  readonly port: number;
  readonly context: CliContext;
  readonly about: string;
  /** The lines of each step so far. */
  readonly log: readonly (readonly string[])[];
  readonly begin: () => void;
  /** Labels the rest, and returns the sentence of the promise; null for none. */
  readonly promise: () => Promise<string | null>;
  readonly release: () => Promise<void>;
}

/** Serves the demo on this machine until its last step. @throws the signal's reason at Ctrl-C. */
export async function serveDemo(options: DemoPage): Promise<void> {
  const { sheet, about, context, begin, port, ...steps } = options;
  const endedController = new AbortController();
  // A form may be sent twice.
  const sentForms: { promise?: Promise<string | null>; release?: Promise<void> } = {};
  const showSteps = async (c: Parameters<LabelOptions["finish"]>[0]) => {
    const { promise = steps.promise(), release } = sentForms;
    sentForms.promise = promise;
    const heading = await promise;
    const isLast = release !== undefined || heading === null;
    if (isLast) c.env.outgoing.once("finish", () => endedController.abort());
    return c.html(renderStepsPage(heading ?? "No threshold can be promised", isLast, options));
  };
  const app = labelApp({
    ...steps,
    ...pageSettings,
    sheets: [sheet],
    first: sheet,
    nextCommand: "npx evaluator-cli calibrate tickets.labels.ndjson",
    note: (labelledCount) =>
      html`${labelledCount < 10 ? null : restForm}
        <p class="about">${about}</p>`,
    finish: showSteps,
  });
  app.post("/release", async (c) => {
    if ((await sentForms.promise) == null) return c.redirect("/", 303);
    await (sentForms.release ??= steps.release());
    return await showSteps(c);
  });
  const signal = AbortSignal.any([context.signal, endedController.signal]);
  await servePage(app, { port, signal, stderr: context.stderr }, (origin) => {
    context.stdout.write(`${origin}\n`);
    begin();
    context.stderr.write(
      `Open ${origin} in a browser. Label some tickets; "Label the rest" makes the promise, "Ship a release" breaks it. Ctrl-C ends this.\n`,
    );
  });
  if (!endedController.signal.aborted) throw context.signal.reason;
}

const pages = [{ href: "./", name: "Demo", isCurrent: true }];
const pageSettings = { program: "evaluator-cli", pages };

const restForm = html`<form method="post" action="end">
  <button class="button" data-key="l"><kbd>l</kbd> Label the rest</button>
</form>`;

const YOURS = "your files: ";
const toCode = (word: string) => html`<code>${word}</code> `;

function renderStepsPage(heading: string, isLast: boolean, { about, log }: DemoPage): string {
  const stepSections = log.map(
    ([stepName = "", ...stepLines]) =>
      html`<section class="card part">
        <h2>${stepName}</h2>
        ${stepLines.map((stepLine) =>
          stepLine.startsWith(YOURS)
            ? html`<p class="quiet">
                ${YOURS}${stepLine.slice(YOURS.length).split(" ").map(toCode)}
              </p>`
            : html`<p>${stepLine}</p>`,
        )}
      </section>`,
  );
  const nextForm = isLast
    ? html`<p>The demo has ended.</p>`
    : html`<form method="post" action="release">
        <button class="button primary">Ship a release</button>
      </form>`;
  return page({
    tool: pageSettings.program,
    pages,
    heading,
    title: "Demo with a simulated model",
    about: html`<p class="about">${about}</p>`,
    body: html`${stepSections} ${nextForm}`,
  });
}
