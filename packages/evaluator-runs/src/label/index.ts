export { labelApp, savedLabels } from "./label-page.ts";
export { LabelFile } from "./label-file.ts";
export { drawSheets, readTable } from "./label-sheet.ts";
export { servePage } from "./own-page.ts";
export { serveList } from "./serve-list.ts";
export { describeWrong } from "../amounts.ts";
export { joinLabels, wrongAnswers } from "./wrong-answers.ts";
