/** US dollars per million input tokens; output is free (contract section 1, rule 11). */
export const inputUsdPerMillionTokens = 0.042;
