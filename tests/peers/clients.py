"""Asks a question of each kind with a client from PyPI, and prints its answers or its error as JSON.

Usage: clients.py CLIENT ADDRESS KEY COUNT. COUNT calls run at once.
"""

import json
import sys
from concurrent.futures import ThreadPoolExecutor

# Long enough for the compression of the vendor's SDK.
STATE = "You have won the lottery. " * 100
ASK = "What is it?"
KINDS = {"prize": "a lottery", "other": "the rest"}
LEVELS = ["fine", "fraud"]
# The vendor's form, which most clients take as plain objects, and OpenAI's.
MAP = {
    "scam": {"type": "noul", "instructions": ASK},
    "kind": {"type": "choice", "instructions": ASK, "criteria": KINDS},
    "level": {"type": "score", "instructions": ASK, "criteria": LEVELS},
}
LIST = [
    {"name": "scam", "type": "predicate", "instructions": ASK},
    {
        "name": "kind",
        "type": "choice",
        "instructions": ASK,
        "choices": [{"value": value, "description": text} for value, text in KINDS.items()],
    },
    {"name": "level", "type": "score", "instructions": ASK, "levels": [{"label": level} for level in LEVELS]},
]


def plain(answer):
    """The probabilities of an answer of any client, by option or by level index."""
    data = answer.model_dump() if hasattr(answer, "model_dump") else answer
    for name in ("noul", "probability"):
        if data.get(name) is not None:
            return data[name]
    options = data["probabilities"]
    if isinstance(options, dict):
        return {str(name): share for name, share in options.items()}
    return {str(option["value"]): option["probability"] for option in options}


def by_name(answers):
    if isinstance(answers, dict):
        return {name: plain(answer) for name, answer in answers.items()}
    rows = [answer.model_dump() if hasattr(answer, "model_dump") else answer for answer in answers]
    return {row["name"]: plain(row) for row in rows}


def typesafe_sdk(address, key):
    from typesafe_sdk import Choice, Noul, RetryPolicy, Score, TypeSafeClient

    client = TypeSafeClient(api_key=key, base_url=address, retry=RetryPolicy(max_retries=0))
    questions = {
        "scam": Noul(instructions=ASK),
        "kind": Choice(instructions=ASK, criteria=KINDS),
        "level": Score(instructions=ASK, criteria=LEVELS),
    }
    return lambda: client.system_one(STATE, questions).answers


def decision_gateway(address, key):
    import os

    from decision_gateway import Gateway, SQLiteStore
    from decision_gateway.config import ModelConfig

    os.environ["PEER_KEY"] = key
    model = ModelConfig("jev-latest", base_url=address, key_env="PEER_KEY", max_retries=0, cache=False)
    client = Gateway({"jev-latest": model}, SQLiteStore(":memory:")).client("jev-latest")
    return lambda: client.system_one(STATE, MAP).answers


def openai(address, key):
    from openai import OpenAI

    client = OpenAI(api_key=key, base_url=f"{address}/v1", max_retries=0)
    return lambda: client.decisions.create(model="gpt-6-luna", input=STATE, questions=LIST).answers


def google_genai(address, key):
    from google import genai

    client = genai.Client(api_key=key, http_options={"base_url": address})
    return lambda: client.decisions.create(model="gemini-decision-1", input=STATE, questions=MAP).answers


def langchain_openai(address, key):
    from langchain_openai.decisions import Choice, OpenAIDecisions, Predicate, Score

    client = OpenAIDecisions(model="gpt-6-luna", api_key=key, base_url=f"{address}/v1", max_retries=0)
    questions = {
        "scam": Predicate(instructions=ASK),
        "kind": Choice(instructions=ASK, choices=KINDS),
        "level": Score(instructions=ASK, levels=LEVELS),
    }
    return lambda: client.invoke({"input": STATE, "questions": questions}).answers


def pydecide(backend, path=""):
    def client(address, key):
        from decide import Choice, Client, Noul, Score
        from decide.backends import load

        client = Client([load(backend, api_key=key, base_url=f"{address}{path}")])
        questions = {
            "scam": Noul(instructions=ASK),
            "kind": Choice(instructions=ASK, criteria=KINDS),
            "level": Score(instructions=ASK, criteria=LEVELS),
        }

        def ask():
            answers = client.decide(STATE, questions).answers
            level = answers["level"].probabilities
            return {
                "scam": {"probability": answers["scam"].noul},
                "kind": {"probabilities": answers["kind"].probabilities},
                "level": {"probabilities": {str(index): share for index, share in enumerate(level)}},
            }

        return ask

    return client


def litellm(model):
    def client(address, key):
        import litellm

        litellm.suppress_debug_info = True
        base = {"api_base": address, "api_key": key, "max_retries": 0}
        if model.startswith("openai/"):
            base["api_base"] = f"{address}/v1"
            return lambda: litellm.decisions(model=model, input=STATE, questions=LIST, **base).answers
        return lambda: litellm.systemone(model=model, state=STATE, questions=MAP, **base).answers

    return client


CLIENTS = {
    "typesafe-sdk": typesafe_sdk,
    "decision-gateway": decision_gateway,
    "openai": openai,
    "google-genai": google_genai,
    "langchain-openai": langchain_openai,
    "pydecide typesafe": pydecide("typesafe"),
    "pydecide openrouter": pydecide("openrouter", "/api"),
    "pydecide openai_decisions": pydecide("openai_decisions", "/v1"),
    "litellm typesafe": litellm("typesafe/jev-latest"),
    "litellm openai": litellm("openai/gpt-6-luna"),
}


def main(name, address, key, count):
    ask = CLIENTS[name](address, key)

    def call(_):
        try:
            return by_name(ask())
        except Exception as error:
            status = getattr(error, "status_code", None) or getattr(error, "status", None)
            return {"error": type(error).__name__, "status": status, "message": str(error)}

    with ThreadPoolExecutor(int(count)) as pool:
        print(json.dumps(list(pool.map(call, range(int(count))))))


main(*sys.argv[1:])
