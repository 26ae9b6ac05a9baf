/** The name an evaluation answered by the judge carries wherever a wire names the model. */
export const lexicalModel = "local/lexical-1";

/** The name a text reply carries wherever a wire names the model. */
export const echoModel = "local/echo-1";

/** The provider that answers in the emulator's place of one. */
export const localProvider = "local";
