"""Families of like cases of which a default run takes every k-th; ``make test-slow`` takes the others.

By file and test. Chosen by what they take: a default run stays below five minutes on two cores.
"""

from __future__ import annotations

from typing import Final

EVERY: Final = {
    "test_traces::test_kernels_follow_the_reference": 2,
    "test_cli::test_on_a_terminal_there_is_a_progress_line": 2,
    "test_runs::test_resume_ends_in_the_bits_of_an_undisturbed_run": 2,
    "test_threshold_walks::test_a_run_goes_on_as_if_it_had_not_stopped": 2,
    "test_custom::test_an_own_rule_gives_the_strategies_of_the_built_in_one": 2,
    "test_removing::test_a_run_that_was_stopped_goes_on_to_the_same_bits": 2,
    "test_facts::test_values": 2,
    "test_stacks::test_a_best_response_in_the_full_game_is_that_of_a_game_with_private_readings": 2,
    "test_any_run::test_a_run_that_was_stopped_goes_on_to_the_same_bits": 2,
    "test_any_run::test_the_same_request_goes_on_in_its_folder": 2,
    "test_kernels::test_five_iterations_of_dealt_games_are_the_references": 2,
    "test_golden::test_openspiels_best_response_algorithms": 2,
    "test_explore::test_the_estimate_is_a_bound_from_below": 2,
    "test_sampling_traces::test_kernels_follow_the_reference": 2,
    "test_threshold_walks::test_the_recursion_of_the_paper_gives_the_same": 2,
    "test_dynamic_thresholding::test_every_claim_is_measured": 2,
    "test_classes::test_translation_by_class_is_that_of_brute_force_trees": 2,
    "test_translation::test_a_best_response_to_a_translated_strategy_is_that_of_a_brute_force_tree": 2,
    "test_bounds::test_states_of_the_cfr_family": 3,
    "test_walks::test_kernels_follow_the_reference": 3,
    "test_sampling_kernels::test_kernels_follow_the_recursions_to_the_bit": 3,
    "test_threshold_walks::test_kernels_follow_the_reference": 3,
    "test_openspiel_judge::test_openspiel_agrees_on_random_policies": 3,
    "test_solving::test_the_best_strategies_so_far": 3,
    "test_curves::test_reproductions_run": 3,
    "test_cli::test_a_reader_that_leaves_is_no_error_to_complain_about": 3,
    "test_storage::test_no_index_out_of_range_survives": 3,
    "test_files::test_runs_refuse_a_folder_that_is_being_written_and_leave_it_alone": 3,
    "test_solving::test_pruning_changes_nothing": 3,
    "test_sparse::test_vector_form_equals_history_form": 3,
    "test_walks::test_pruning_makes_nash_conv_rise_no_more_than_it_does_anyway": 3,
    "test_growing::test_a_tree_that_does_not_grow_is_solved_like_the_compiled_game": 3,
    "test_sizes::test_the_choice_is_as_good_as_trying_all": 3,
    "test_first_order::test_nash_conv_falls_like_one_over_t": 3,
    "test_thresholding::test_theorem_1_hedge": 3,
    "test_growing::test_theorem_1_the_combined_game_is_an_explicit_sequence_of_play": 3,
    "test_growing::test_regret_transfer_repeats_what_was_played_behind_the_neighbour": 3,
    "test_evaluation::test_the_program_solves_random_trees_exactly": 3,
    "test_bounds::test_scaling_payoffs_by_a_power_of_two_changes_no_bit": 3,
    "test_first_order::test_the_excessive_gap_condition_holds_after_every_step": 3,
    "test_algorithms::test_equilibria_of_random_games": 3,
    "test_first_order::test_many_iterations": 3,
    "test_run_loop::test_resumed_runs_end_in_the_same_bits": 3,
    "test_tree::test_memory_is_what_is_allocated": 4,
    "test_growth_traces::test_the_reference_gives_the_same": 4,
    "test_traces::test_the_reference_has_not_changed": 4,
}
