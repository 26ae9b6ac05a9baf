import { existsSync } from "node:fs";
import {
  artifactHash,
  type CalibrationArtifact,
  createRiskAlarm,
  type SavedRiskAlarm,
} from "evaluator-calibration";
import { checkThreshold } from "evaluator-calibration/statistics";
import type { LabelledRows } from "evaluator-calibration/reports";
import { parseJson, printable, readParsedFile } from "evaluator-kit";
import { lockBeside, writePrivateFile } from "evaluator-runs/source";
import { hashOfId } from "./read-files.ts";

/** The content of a file of alarms. */
interface SavedAlarms {
  /** The hash of the calibration. */
  readonly artifact: string;
  /** One for each threshold, in their order, with hashes of the ids whose labels were added. */
  readonly alarms: readonly { readonly ids: readonly string[]; readonly alarm: SavedRiskAlarm }[];
}

const advice = "Name another file with --state.";

/**
 * Adds the labels that a file of alarms does not have yet to the alarm of each threshold.
 *
 * @throws CliError if the file is of another calibration, or another process has it.
 */
export async function addSpotChecks(
  path: string,
  artifact: CalibrationArtifact,
  rows: readonly LabelledRows["tested"][],
) {
  const taken = printable`${path} is in use by another check; wait for its end and run again.`;
  const unlock = lockBeside(path, { taken, advice });
  try {
    const parse = (text: string) => openAlarms(artifact, text);
    const isNew = !existsSync(path);
    const alarms = isNew ? openAlarms(artifact) : await readParsedFile(path, { parse, advice });
    for (const alarm of alarms) for (const some of rows) addRows(alarm, some);
    await writeAlarms(path, artifact, alarms);
    return alarms.map(({ locked, needed, alarm }) => {
      const { n, wrong, evidence, alarm: isAlarm } = alarm.toJSON();
      const verdict = isAlarm ? ("alarm" as const) : ("no alarm" as const);
      return { locked, n, wrong, evidence, needed, verdict };
    });
  } finally {
    unlock();
  }
}

function openAlarms(artifact: CalibrationArtifact, text?: string) {
  const saved = text === undefined ? null : (parseJson(text) as SavedAlarms | null);
  if (text !== undefined && saved?.artifact !== artifactHash(artifact)) {
    throw new Error("holds no alarms of this calibration");
  }
  return artifact.thresholds.map((locked, at) => {
    // All alarms of a file share the chance of a false one.
    const needed = Math.ceil(artifact.thresholds.length / (1 - locked.confidence) - 1e-9);
    const bound = { maxRisk: locked.maxRisk, confidence: 1 - 1 / needed };
    const { ids, alarm } = saved?.alarms[at] ?? {};
    return { locked, needed, ids: new Set(ids), alarm: createRiskAlarm(bound, alarm) };
  });
}

type Alarm = ReturnType<typeof openAlarms>[number];

function addRows({ locked, ids, alarm }: Alarm, rows: LabelledRows["tested"]): void {
  if (rows.question !== locked.question) return;
  const fresh = rows.ids.flatMap((id, at) => {
    const row = { p: rows.p.slice(at, at + 1), cameTrue: rows.cameTrue.slice(at, at + 1) };
    const { n, wrong } = checkThreshold(locked, row);
    const hash = hashOfId(id);
    if (n === 0 || ids.has(hash)) return [];
    return [{ hash, isWrong: wrong === 1, weight: rows.weights?.[at] ?? 1 }];
  });
  const heaviest = fresh.reduce((most, { weight }) => Math.max(most, weight), 0);
  for (const { hash, isWrong, weight } of fresh) {
    ids.add(hash);
    // Each counts with a probability by its weight: those that do are an equal sample.
    if (Number.parseInt(hash, 16) / 2 ** 32 < weight / heaviest) alarm.add(isWrong);
  }
}

async function writeAlarms(path: string, artifact: CalibrationArtifact, opened: readonly Alarm[]) {
  const alarms = opened.map(({ locked: { question, action, threshold }, ids, alarm }) => {
    return { question, action, threshold, ids: [...ids], alarm: alarm.toJSON() };
  });
  const saved: SavedAlarms = { artifact: artifactHash(artifact), alarms };
  await writePrivateFile(path, `${JSON.stringify(saved)}\n`, advice);
}
