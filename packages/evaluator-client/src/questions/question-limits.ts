import * as z from "zod";

/** How large a question may be before it is refused without sending. */
export const questionLimitsSchema = z.strictObject({
  maxOptions: z.int().min(1).optional(),
  maxLevels: z.int().min(1).optional(),
});
/** How large a question may be before it is refused without sending (field facts). */
export interface QuestionLimits {
  /** Options of a choice question. @default 255 */
  readonly maxOptions?: number;
  /** Levels of a score question. @default 10 */
  readonly maxLevels?: number;
}
