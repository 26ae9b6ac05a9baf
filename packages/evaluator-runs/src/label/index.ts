export { answerKeys, labelApp, savedLabels } from "./label-page.ts";
export { LabelFile } from "./label-file.ts";
export { drawSheets, type LabelledAnswers, readTable } from "./label-sheet.ts";
export { openLabelled } from "./labelled-journal.ts";
export { ownPage, servePage } from "./own-page.ts";
export { auditLines, drawSpotChecks } from "./spot-checks.ts";
export { describeWrong } from "../amounts.ts";
export { joinLabels, wrongAnswers } from "./wrong-answers.ts";
