// Solves one spot with postflop-solver and prints one line of JSON a look: what benchmarks/holdem/run.py reads.
//
// Arguments: board pot stack oop_range ip_range bet raise donk add force merge int16 target_percent iterations
// Bet and raise sizes are the same on every street and for both players ("-": no donk sizes).
use postflop_solver::*;
use std::time::Instant;

fn main() {
    let a: Vec<String> = std::env::args().skip(1).collect();
    let cards: Vec<&str> = a[0].split_whitespace().collect();
    let sizes = BetSizeOptions::try_from((a[5].as_str(), a[6].as_str())).unwrap();
    let donk = if a[7] == "-" { None } else { Some(DonkSizeOptions::try_from(a[7].as_str()).unwrap()) };
    let card = |place: usize| cards.get(place).map_or(NOT_DEALT, |text| card_from_str(text).unwrap());
    let state = [BoardState::Flop, BoardState::Turn, BoardState::River][cards.len() - 3];
    let pot: i32 = a[1].parse().unwrap();
    let cards_config = CardConfig {
        range: [a[3].parse().unwrap(), a[4].parse().unwrap()],
        flop: flop_from_str(&cards[..3].concat()).unwrap(),
        turn: card(3),
        river: card(4),
    };
    let both = || [sizes.clone(), sizes.clone()];
    let tree = TreeConfig {
        initial_state: state,
        starting_pot: pot,
        effective_stack: a[2].parse().unwrap(),
        rake_rate: 0.0,
        rake_cap: 0.0,
        flop_bet_sizes: both(),
        turn_bet_sizes: both(),
        river_bet_sizes: both(),
        turn_donk_sizes: None,
        river_donk_sizes: donk,
        add_allin_threshold: a[8].parse().unwrap(),
        force_allin_threshold: a[9].parse().unwrap(),
        merging_threshold: a[10].parse().unwrap(),
    };
    let mut game = PostFlopGame::with_config(cards_config, ActionTree::new(tree).unwrap()).unwrap();
    let compact = a[11] == "1";
    let memory = game.memory_usage();
    game.allocate_memory(compact);
    let target: f32 = a[12].parse().unwrap();
    let most: u32 = a[13].parse().unwrap();
    let (began, mut iterating) = (Instant::now(), 0.0);
    let bytes = if compact { memory.1 } else { memory.0 };
    for t in 0..most {
        let start = Instant::now();
        solve_step(&game, t);
        iterating += start.elapsed().as_secs_f64();
        if (t + 1) % 10 == 0 || t + 1 == most {
            let percent = 100.0 * compute_exploitability(&game) / pot as f32;
            let seconds = began.elapsed().as_secs_f64();
            println!(
                "{{\"iteration\": {}, \"percent\": {percent}, \"seconds\": {seconds}, \"iterating\": {iterating}, \"bytes\": {bytes}}}",
                t + 1
            );
            if percent <= target {
                break;
            }
        }
    }
}
