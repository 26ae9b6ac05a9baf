/** The password of the database, which no line may show. */
export const PASSWORD = "qwhpgxzkvmnjtrys";
