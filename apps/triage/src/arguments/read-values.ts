import { UsageError } from "evaluator-cli-kit";
import { z } from "zod";

/** Reads a whole number from 1 up; `fallback` when the flag was not given. */
export function readCount(flag: string, text: string | undefined, fallback: number): number {
  if (text === undefined) return fallback;
  const count = /^\d{1,15}$/.test(text) ? Number(text) : 0;
  if (count < 1) {
    throw new UsageError(`${flag} takes a whole number from 1 up, such as ${flag} 20`);
  }
  return count;
}

/** Reads US dollars from 0 up; Infinity when the flag was not given. */
export function readUsd(flag: string, text: string | undefined): number {
  if (text === undefined) return Number.POSITIVE_INFINITY;
  if (/^\d{1,12}(\.\d+)?$/.test(text)) return Number(text);
  throw new UsageError(`${flag} takes US dollars, such as ${flag} 2.50`);
}

/** Reads a day of the calendar; null when the flag was not given. */
export function readDay(flag: string, text: string | undefined): string | null {
  if (text === undefined) return null;
  if (z.iso.date().safeParse(text).success) return text;
  throw new UsageError(`${flag} takes a day, such as ${flag} 2026-11-02`);
}

/** Reads one of a few words; the first when the flag was not given. */
export function readWord<TWord extends string>(
  flag: string,
  text: string | undefined,
  words: readonly [TWord, ...TWord[]],
): TWord {
  const word = text === undefined ? words[0] : words.find((word) => word === text);
  if (word !== undefined) return word;
  throw new UsageError(`${flag} takes one of ${words.join(", ")}`);
}
