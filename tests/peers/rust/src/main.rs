//! Asks a question of each kind with a client that Cargo installs, and prints its answers or its error as JSON.
//!
//! Usage: clients CLIENT ADDRESS KEY COUNT. COUNT calls run at once.

use std::{collections::BTreeMap, env, sync::Arc, time::Duration};

use serde_json::{Value, json};

const ASK: &str = "What is it?";
const KINDS: [(&str, &str); 2] = [("prize", "a lottery"), ("other", "the rest")];
const LEVELS: [&str; 2] = ["fine", "fraud"];

fn state() -> String {
    "You have won the lottery. ".repeat(100)
}

async fn judgment(client: &judgment::Client) -> Result<Value, judgment::Error> {
    use judgment::{Questions, SystemOne};

    let mut questions = Questions::new();
    let scam = questions.noul("scam", ASK, None)?;
    let options = KINDS.map(|(name, text)| (name.to_owned(), Some(text.to_owned())));
    let kind = questions.dynamic_choice("kind", ASK, options)?;
    let level = questions.score("level", ASK, LEVELS)?;
    let response = client.answer(&Value::from(state()), "jev-latest", &questions).await?;
    let kind: BTreeMap<_, f64> =
        response.get(&kind)?.probabilities.into_iter().map(|(name, share)| (name, share.into())).collect();
    let level: BTreeMap<_, f64> =
        response.get(&level)?.probabilities.into_iter().map(f64::from).enumerate().collect();
    Ok(json!({ "scam": f64::from(response.get(&scam)?.yes), "kind": kind, "level": level }))
}

async fn kunobi(client: &kunobi_decision::Client) -> Result<Value, kunobi_decision::Error> {
    use kunobi_decision::{Questions, SystemOneRequest, choice, noul, score};

    let mut questions = Questions::new();
    let scam = questions.add("scam", noul(ASK));
    let kind = questions.add("kind", choice(ASK, KINDS));
    let level = questions.add("level", score(ASK, LEVELS));
    let result = client.system_one(SystemOneRequest::new(state(), questions)).await?;
    Ok(json!({
        "scam": result.answer(&scam)?.noul,
        "kind": result.answer(&kind)?.probabilities,
        "level": result.answer(&level)?.probabilities,
    }))
}

async fn jev_sdk(client: &jev_sdk::TypeSafeClient) -> Result<Value, jev_sdk::Error> {
    use jev_sdk::{Choice, Noul, Question, Score};

    let questions: [(&str, Question); 3] = [
        ("scam", Noul::new(ASK).into()),
        ("kind", Choice::new(ASK, KINDS).into()),
        ("level", Score::new(ASK, LEVELS).into()),
    ];
    let response = client.system_one(state(), questions).await?;
    Ok(json!({
        "scam": response.noul("scam").map(|answer| answer.noul),
        "kind": response.choice("kind").map(|answer| &answer.probabilities),
        "level": response.score("level").map(|answer| &answer.probabilities),
    }))
}

fn typesafe_jev(client: &typesafe_jev::Client) -> Result<Value, typesafe_jev::Error> {
    use typesafe_jev::{Choice, Noul, Questions, Score};

    let questions = Questions::new().with("scam", Noul::new(ASK));
    let questions = questions.with("kind", Choice::new(ASK, KINDS)).with("level", Score::new(ASK, LEVELS));
    let response = client.ask(&state(), &questions)?;
    Ok(json!({
        "scam": response.noul("scam").map(|answer| answer.noul),
        "kind": response.choice("kind").map(|answer| &answer.probabilities),
        "level": response.score("level").map(|answer| &answer.probabilities),
    }))
}

async fn typesafe_systemone(client: &typesafe_systemone::Client) -> Result<Value, typesafe_systemone::Error> {
    let request = client.system_one().state(state()).noul("scam", ASK);
    let request = request.choice("kind", ASK, |kind| kind.options(KINDS));
    let response = request.score("level", ASK, LEVELS).send().await?;
    Ok(json!({
        "scam": response.noul("scam")?,
        "kind": response.choice("kind")?.probabilities,
        "level": response.score("level")?.probabilities,
    }))
}

enum Client {
    JevSdk(jev_sdk::TypeSafeClient),
    Judgment(judgment::Client),
    Kunobi(kunobi_decision::Client),
    TypesafeJev(typesafe_jev::Client),
    TypesafeSystemone(typesafe_systemone::Client),
}

/// Returns a client that waits longer than a busy machine needs, and does not retry.
fn connect(name: &str, address: &str, key: &str) -> Client {
    use kunobi_decision::Provider;

    let patience = Duration::from_secs(100);
    let provider = match name {
        "jev-sdk" => {
            let client = jev_sdk::TypeSafeClient::builder().api_key(key).base_url(address).timeout(patience);
            return Client::JevSdk(client.retry(jev_sdk::RetryPolicy::none()).build().expect("a client"));
        }
        "judgment" => {
            let client = judgment::Client::builder().api_key(key).base_url(address).timeout(patience);
            return Client::Judgment(client.retry(judgment::RetryPolicy::none()).build().expect("a client"));
        }
        "typesafe-jev" => {
            let config = typesafe_jev::Config {
                base_url: format!("{address}/v1/systemone"),
                timeout: patience,
                max_retries: 0,
                ..Default::default()
            };
            return Client::TypesafeJev(typesafe_jev::Client::new(key, config).expect("a client"));
        }
        "typesafe-systemone" => {
            let client = typesafe_systemone::Client::builder().api_key(key).base_url(address).timeout(patience);
            let client = client.retry(typesafe_systemone::RetryPolicy::none());
            return Client::TypesafeSystemone(client.build().expect("a client"));
        }
        "kunobi-decision vercel" => Provider::Vercel,
        "kunobi-decision openrouter" => Provider::OpenRouter,
        "kunobi-decision liquid" => Provider::Liquid,
        "kunobi-decision cloudflare" => Provider::Cloudflare { account_id: "team".into() },
        _ => Provider::TypeSafe,
    };
    let client = kunobi_decision::Client::builder().provider(provider).api_key(key).base_url(address);
    let client = client.timeout(patience).total_timeout(None).retry(kunobi_decision::RetryPolicy::none());
    Client::Kunobi(client.build().expect("a client"))
}

/// The answers, or the name of the error's variant.
async fn ask(client: Arc<Client>) -> Value {
    let result = match &*client {
        Client::JevSdk(client) => jev_sdk(client).await.map_err(|error| match error.status() {
            Some(status) => format!("Api{} {error}", status.as_u16()),
            None => format!("{error:?}"),
        }),
        Client::Judgment(client) => judgment(client).await.map_err(|error| format!("{error:?}")),
        Client::Kunobi(client) => kunobi(client).await.map_err(|error| {
            let kind = error.api_error().map(|api| format!("{:?}", api.kind()));
            kind.unwrap_or_else(|| format!("{error:?}"))
        }),
        Client::TypesafeJev(_) => {
            let call = tokio::task::spawn_blocking(move || match &*client {
                Client::TypesafeJev(client) => typesafe_jev(client),
                _ => unreachable!(),
            });
            call.await.expect("a call").map_err(|error| format!("{error:?}"))
        }
        Client::TypesafeSystemone(client) => {
            typesafe_systemone(client).await.map_err(|error| format!("{error:?}"))
        }
    };
    result.unwrap_or_else(|message| {
        let end = message.find(|letter: char| !letter.is_alphanumeric()).unwrap_or(message.len());
        json!({ "error": message[..end], "message": message })
    })
}

#[tokio::main]
async fn main() {
    let words: Vec<String> = env::args().skip(1).collect();
    let [name, address, key, count] = words.as_slice() else { panic!("Usage: clients CLIENT ADDRESS KEY COUNT") };
    let client = Arc::new(connect(name, address, key));
    let calls: Vec<_> = (0..count.parse().expect("a number"))
        .map(|_| tokio::spawn(ask(Arc::clone(&client))))
        .collect();
    let mut answers = Vec::new();
    for call in calls {
        answers.push(call.await.expect("a call"));
    }
    println!("{}", Value::from(answers));
}
