"""How much of the suite the ordinary run does, so that it ends within minutes: five to six on two cores.

The power of a law is the number of cases or examples that a run tries. It stands here and nowhere else; `just power`
prints it, with the whole number beside it.

`SAMPLED` says of a parametrised test how many of its cases the ordinary run takes, spread evenly over them; the others
are marked `slow`, as are whole tests that stand here with 0. `POWER` says of a test that makes its examples, or goes
through a list of them, how many it tries in an ordinary run and in a long one, of which it is a part too: by `tried`
above a test of hypothesis, or by the fixtures `tries` (their number) and `by_lot` (so many of a list). So no
case is lost: `pytest -m slow` runs all that the ordinary run leaves out, and `--part K/N` a K-th part of N of it,
chosen by a digest of each test's name. `.ci/run` takes another part with each commit.

`REGISTRY` are the tests that fail when something is added and not registered everywhere; `--quick` leaves out `LONG`
and takes two cases of each test.
"""

from __future__ import annotations

import random
import sys
import zlib
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

SAMPLED: Final[dict[str, int]] = {
    "accounting/test_calibrate.py::test_a_little_less_noise_is_not_proved": 1,
    "accounting/test_calibrate.py::test_continuous_gaussian_noise_by_the_curve": 10,
    "accounting/test_calibrate.py::test_every_search_ends_soon": 0,
    "accounting/test_calibrate.py::test_on_samples_the_target_is_met_and_a_little_less_noise_does_not": 0,
    "accounting/test_calibrate.py::test_the_target_is_met": 2,
    "accounting/test_calibrate_every.py::test_a_rho": 9,
    "accounting/test_calibrate_every.py::test_an_epsilon_and_a_delta": 2,
    "accounting/test_calibrate_every.py::test_an_error": 5,
    "accounting/test_calibrate_every.py::test_d10_several_discrete_gaussians_cost_what_continuous_ones_do": 1,
    "accounting/test_closed.py::test_bounded_ranges_that_do_not_adapt": 1,
    "accounting/test_closed.py::test_deltas_are_the_same_methods_the_other_way_round": 2,
    "accounting/test_closed.py::test_gaussians_are_one_gaussian": 6,
    "accounting/test_closed.py::test_more_releases_cost_more_by_every_method": 8,
    "accounting/test_closed.py::test_no_method_is_below_the_certified_lower_end_of_mixed_losses": 1,
    "accounting/test_closed.py::test_no_method_is_below_the_truth_for_coins": 15,
    "accounting/test_composed_tradeoff.py::test_h3_a_sampled_composition_is_enclosed_by_the_better_of_both_ways": 1,
    "accounting/test_composed_tradeoff.py::test_the_curve_falls_is_convex_and_agrees_with_delta": 1,
    "accounting/test_composed_tradeoff.py::test_the_other_way_round_is_the_same_curve": 1,
    "accounting/test_composition.py::TestLaws::test_losses_in_the_thousands_have_both_bounds": 0,
    "accounting/test_composition.py::TestLaws::test_more_is_never_cheaper_and_a_loss_more_adds_at_most_its_own": 1,
    "accounting/test_composition.py::TestLaws::test_splitting_a_gaussian_changes_nothing": 1,
    "accounting/test_contour.py::test_both_sides_of_the_rule": 5,
    "accounting/test_contour.py::test_coins_are_those_of_the_exact_sum": 4,
    "accounting/test_contour.py::test_many_different_losses_go_along_one_contour": 0,
    "accounting/test_contour.py::test_moments_are_those_of_the_law_on_a_fine_grid": 6,
    "accounting/test_contour.py::test_the_estimate_is_near_the_bracket_on_both": 1,
    "accounting/test_estimate.py::test_delta_at_an_epsilon_too": 1,
    "accounting/test_estimate.py::test_the_estimate_is_near_the_bracket": 2,
    "accounting/test_filters.py::test_an_odometer_holds_at_every_moment_but_for_its_delta": 1,
    "accounting/test_oracles.py::test_the_bracket_holds_what_is_known": 10,
    "accounting/test_peers.py::test_the_numbers_of_others_are_met": 57,
    "accounting/test_pld.py::test_the_bracket_holds_the_direct_sum": 4,
    "accounting/test_pld_cells.py::test_lumps_of_any_pieces_are_dominated_by_them": 20,
    "accounting/test_pld_cells.py::test_the_two_rows_are_on_either_side_of_the_curve": 9,
    "accounting/test_sampled_oracles.py::test_a_small_delta_is_no_smaller_than_round_off_lets_it_be": 0,
    "accounting/test_sampled_oracles.py::test_adding_a_row": 0,
    "accounting/test_sampled_oracles.py::test_many_steps_are_certified": 0,
    "accounting/test_sampled_oracles.py::test_replacing_is_not_adding_or_removing": 0,
    "accounting/test_sampled_oracles.py::test_the_estimate_has_six_figures": 1,
    "accounting/test_sampled_oracles.py::test_the_worse_direction_is_taken_after_composing": 0,
    "accounting/test_sampled_pld.py::test_losses_beyond_any_grid_are_bounded_still": 2,
    "accounting/test_sampled_pld.py::test_losses_of_hundreds_of_digits_are_no_error": 1,
    "accounting/test_sampled_pld.py::test_tails_in_doubles_are_those_of_the_law": 22,
    "accounting/test_sampled_pld.py::test_the_bracket_holds_the_direct_sum_of_the_worse_direction": 1,
    "accounting/test_sampled_pld.py::test_the_two_rows_are_on_either_side_of_the_curve": 8,
    "accounting/test_sampled_sweep.py::test_h1_a_bracket_on_few_sampled_steps_is_narrow": 1,
    "accounting/test_sampled_sweep.py::test_h1_calibrated_noise_is_proved_and_near_the_least": 0,
    "accounting/test_tradeoff.py::test_bayes_risk_is_the_least_over_the_curve": 2,
    "accounting/test_tradeoff.py::test_the_curve_is_convex_falls_and_agrees_with_delta": 1,
    "attacks/test_adversary_surface.py::test_an_answer_too_large_for_memory_is_refused_before_the_charge": 1,
    "attacks/test_adversary_surface.py::test_every_answer_holds_with_its_receipt": 1,
    "attacks/test_adversary_surface.py::test_no_depth_of_calls_makes_an_answer_fail_after_the_charge": 0,
    "attacks/test_batch.py::test_row_10_a_batch_too_large_for_one_statement_is_refused_before_it_is_charged": 0,
    "attacks/test_batch.py::test_row_10_and_35_every_failure_is_one_fault_without_data": 2,
    "attacks/test_batch.py::test_row_18_two_processes_pay_one_batch_once": 0,
    "attacks/test_batch.py::test_row_19_a_batch_charged_and_not_answered_is_resumed_at_no_new_charge": 1,
    "attacks/test_batch_as_one.py::test_a_receipt_with_losses_without_end_is_refused_before_they_are_put_together": 0,
    "attacks/test_batch_as_one.py::test_row_18_many_at_once_pay_for_two_points_where_there_is_delta_for_two": 0,
    "attacks/test_batch_as_one.py::test_together_has_a_bound_for_any_history_and_any_delta": 0,
    "attacks/test_crash.py::test_row_19_a_kill_at_any_moment_loses_no_charge": 1,
    "attacks/test_crash.py::test_row_19_two_that_resume_at_once_show_one_answer": 3,
    "attacks/test_fire.py::test_row_18_a_budget_for_two_answers_two_of_all": 2,
    "attacks/test_fire.py::test_row_18_the_same_question_at_once_is_one_charge_and_one_answer": 1,
    "attacks/test_memory.py::test_a1_what_is_accepted_stays_within_the_allowance_on_the_largest_rows": 0,
    "attacks/test_no_question_closes.py::test_row_10_no_accepted_question_can_fail_after_the_charge": 3,
    "attacks/test_rows_system.py::test_row_10_every_failure_is_one_fault": 4,
    "attacks/test_rows_system.py::test_row_20_the_charge_does_not_depend_on_data": 1,
    "attacks/test_rows_system.py::test_row_21_nothing_with_state_runs_on_rows": 4,
    "attacks/test_rows_system.py::test_row_29_averaging_repeats_gains_nothing": 0,
    "attacks/test_rows_system.py::test_row_29_the_same_in_other_words_is_free_with_the_same_numbers_or_paid_for": 2,
    "attacks/test_rows_system.py::test_row_31_ten_tenths_are_one": 1,
    "attacks/test_rows_system.py::test_row_35_no_exact_integer_outlives_a_failure": 2,
    "attacks/test_rows_values.py::test_row_04_nan_through_clamp": 1,
    "attacks/test_rows_values.py::test_row_11_a_column_without_listed_keys_is_no_group": 4,
    "attacks/test_rows_values.py::test_row_14_nothing_multiplies_a_row": 3,
    "attacks/test_rows_values.py::test_row_37_extreme_bits_give_finite_numbers": 2,
    "attacks/test_rows_values.py::test_rows_05_to_07_no_output_tells_by_being_possible": 1,
    "audit/test_blackbox.py::test_fitted_scores_see_what_all_parts_say_together": 2,
    "audit/test_divergences.py::test_rho_of_the_whole_laws_is_more_than_that_of_an_event": 0,
    "audit/test_features.py::test_laws_that_differ_are_told_apart_and_equal_ones_are_not": 2,
    "audit/test_known.py::test_broken_ones_are_flagged": 1,
    "audit/test_known.py::test_correct_ones_are_not": 2,
    "audit/test_known_mistakes.py::test_a_known_mistake_is_found_with_a_witness": 1,
    "audit/test_known_mistakes.py::test_a_right_mechanism_passes": 1,
    "audit/test_laws.py::test_no_mechanism_of_ours_is_found_to_break_its_loss_and_each_breaks_less": 3,
    "audit/test_probes.py::test_bounds_cost_and_bytes": 1,
    "audit/test_replay.py::test_inputs_move_as_far_as_declared_and_no_further": 12,
    "audit/test_self_audit.py::test_a_claim_of_two_hundredths_less_is_found_out_for_certain": 2,
    "audit/test_self_audit.py::test_a_mistake_of_the_engine_is_found": 1,
    "audit/test_self_audit.py::test_no_mechanism_breaks_what_its_loss_says": 2,
    "break_me/test_break_me.py::test_a_mistake_is_found_with_a_small_witness": 1,
    "break_me/test_break_me.py::test_a_rule_weakened_is_found_with_unknown_keys": 0,
    "break_me/test_break_me.py::test_columns_with_one_value_a_unit_hold_whether_or_not_the_rows_are_alike": 1,
    "break_me/test_break_me.py::test_keys_of_a_public_table_and_a_second_table_are_asked_too": 0,
    "break_me/test_break_me.py::test_questions_reach_the_whole_surface_and_are_nearly_always_answered": 0,
    "break_me/test_break_me.py::test_the_same_seed_tries_the_same": 0,
    "cases/test_expressions.py::test_tim_01_day_buckets_do_not_depend_on_the_machine": 1,
    "cases/test_ledger.py::test_bud_01_even_shares_are_all_accepted_and_nothing_more": 1,
    "cases/test_ledger.py::test_bud_03_fifty_threads_and_eight_processes_get_ten_tenths": 1,
    "cases/test_ledger.py::test_bud_07_no_seed_and_no_noise_in_common": 1,
    "cases/test_sampling.py::test_com_11_an_everyday_epsilon_is_no_error": 1,
    "cases/test_selection.py::test_hunt_36_no_group_of_fewer_people_than_the_law_asks_for_whatever_the_price": 2,
    "cases/test_selection.py::test_sel_05_a_key_of_one_person_stays_out": 1,
    "cases/test_selection.py::test_sel_07_a_median_of_many_zeros_is_zero": 1,
    "catalog/test_formats.py::test_formats_that_are_taken_together_read_no_day_differently": 20,
    "cli/test_commands.py::test_bad_prices": 3,
    "cli/test_commands.py::test_demo": 0,
    "cli/test_currencies.py::test_bad_prices_in_rho": 2,
    "cli/test_formats.py::test_e9_a_full_device_is_no_fault_and_the_answer_is_stored": 1,
    "cli/test_plot.py::test_a_bad_word_is_refused": 7,
    "cli/test_plot.py::test_every_chart_of_every_noise_is_written_and_that_is_said": 2,
    "cli/test_plot.py::test_options_are_as_they_say": 0,
    "cli/test_unknown_keys.py::test_a_file_of_them_is_one_batch_with_a_row_of_others_each": 1,
    "cli/test_unknown_keys.py::test_every_command_takes_it": 1,
    "curator/test_batching.py::test_errors_of_columns_give_each_question_its_least_price": 2,
    "curator/test_batching.py::test_one_charge_of_the_exact_sum_and_a_receipt_each": 2,
    "curator/test_batching.py::test_only_what_is_new_of_a_question_is_charged": 2,
    "curator/test_batching_as_one.py::test_a_question_twice_counts_once_and_what_is_public_not_at_all": 0,
    "curator/test_batching_as_one.py::test_a_receipt_that_lies_about_its_point_is_caught": 1,
    "curator/test_batching_as_one.py::test_it_is_charged_the_certified_point_and_every_receipt_holds": 1,
    "curator/test_batching_as_one.py::test_no_price_costs_more_epsilon_as_one": 1,
    "curator/test_batching_as_one.py::test_one_and_the_same_reading_under_another_name_is_drawn_and_counted_again": 0,
    "curator/test_batching_as_one.py::test_short_of_delta_it_is_refused_and_nothing_is_charged": 0,
    "curator/test_curator.py::test_a_quote_made_by_hand_is_refused": 6,
    "curator/test_curator.py::test_an_edited_public_fact_makes_a_new_question": 2,
    "curator/test_curator.py::test_what_the_first_question_fixed_cannot_be_edited": 2,
    "curator/test_cut.py::test_a_cut_of_another_form_is_found_by_both_though_it_is_signed": 5,
    "curator/test_cut.py::test_in_every_ledger_and_relation_it_holds_by_both_verifiers": 6,
    "curator/test_cut.py::test_it_is_how_many_people_are_cut_of_how_many": 4,
    "curator/test_cut.py::test_what_is_done_with_a_paid_answer_costs_nothing_and_shows_its_cut": 5,
    "curator/test_disjoint.py::test_any_sequence_of_batches_is_charged_as_quoted_and_repeats_for_nothing": 1,
    "curator/test_disjoint.py::test_one_unit_moves_all_questions_together_by_at_most_the_one_sensitivity": 3,
    "curator/test_history.py::test_many_kinds_are_rounded_up_to_few": 0,
    "curator/test_history.py::test_of_a_charge_with_other_parameters_the_price_is_taken": 5,
    "curator/test_min_units.py::test_d5_a_group_of_fewer_is_never_shown_and_both_verifiers_agree": 2,
    "curator/test_readings.py::test_any_sequence_of_questions_is_charged_for_new_readings_alone": 4,
    "curator/test_readings.py::test_d1_what_is_done_with_a_paid_answer_costs_nothing": 5,
    "curator/test_rehearsal.py::test_it_answers_free_without_data_and_leaves_the_ledger_as_it_was": 5,
    "curator/test_rehearsal.py::test_the_engine_says_what_the_reference_says": 1,
    "engines/test_by_hand.py::test_a_mistake_in_the_query_fails_a_table": 2,
    "engines/test_chosen.py::TestChosen::test_a_unit_keeps_its_first_keys_by_md5": 12,
    "engines/test_conformance.py::test_every_engine_gives_the_integers_of_the_reference": 8,
    "engines/test_duckdb.py::test_a_forked_child_may_exit_in_the_ordinary_way": 1,
    "engines/test_duckdb.py::test_an_interrupt_is_the_users_and_not_a_fault": 0,
    "engines/test_duckdb.py::test_the_connection_reaches_nothing_else": 4,
    "engines/test_functions.py::test_a_function_gives_python_s_value_in_every_row": 24,
    "engines/test_levels.py::test_a_tree_with_more_parts_than_allowed_is_refused_before_it_is_written": 1,
    "engines/test_levels.py::test_thirty_deep_is_short_and_runs": 1,
    "engines/test_limits.py::test_refused_before_data_is_touched": 58,
    "engines/test_patterns.py::test_a_text_fits_a_pattern_as_its_definition_says": 1,
    "engines/test_together.py::test_each_merged_plan_holds_each_question_once_and_each_sum_once": 0,
    "engines/test_together.py::test_questions_under_conditions_of_their_own_are_read_and_grouped_at_once": 1,
    "engines/test_together.py::test_together_is_one_by_one": 3,
    "engines/test_vectors.py::test_in_python": 21,
    "engines/test_vectors.py::test_on_every_engine": 8,
    "fronts/test_fuzz.py::test_deep_texts_run_out_of_no_stack": 13,
    "fronts/test_fuzz.py::test_only_a_plan_or_a_refusal_comes_out": 25,
    "fronts/test_refusals.py::test_a_bad_question_is_refused_in_words": 94,
    "gallery/test_pictures.py::test_a_picture_is_what_its_page_draws": 1,
    "language/test_expressions.py::test_what_an_expression_is_of_a_row": 40,
    "language/test_predicates.py::test_an_integer_column_meets_a_number_exactly": 8,
    "language/test_zones.py::test_a_zone_is_zoneinfo_s": 3,
    "laws/test_every_mechanism.py::test_a_smaller_promise_would_be_found_out": 9,
    "laws/test_every_mechanism.py::test_no_hockey_stick_passes_delta": 24,
    "laws/test_every_mechanism.py::test_no_log_ratio_passes_the_pure_epsilon": 12,
    "laws/test_every_mechanism.py::test_the_masses_sum_to_one": 6,
    "laws/test_every_mechanism.py::test_what_is_said_to_be_attained_is": 5,
    "laws/test_heart.py::test_a_claim_of_one_less_fails": 4,
    "laws/test_heart.py::test_grouped_by_columns_with_one_value_a_unit_the_law_holds_whatever_the_rows_are": 2,
    "laws/test_heart.py::test_scaling_down_otherwise_fails": 3,
    "laws/test_neighbours_see_the_same.py::test_catalog_quotes_menus_and_prices_are_the_same": 1,
    "laws/test_neighbours_see_the_same.py::test_ledger_events_are_the_same_but_for_the_answers_hash": 1,
    "laws/test_neighbours_see_the_same.py::test_receipts_are_the_same_but_for_the_answers_hash": 1,
    "laws/test_neighbours_see_the_same.py::test_refusals_are_the_same_and_charge_nothing": 2,
    "laws/test_neighbours_see_the_same.py::test_schema_keys_order_costs_and_notes_are_the_same_whatever_the_noise": 1,
    "laws/test_neighbours_see_the_same.py::test_what_the_shell_prints_before_the_noise_is_the_same": 1,
    "laws/test_neighbours_see_the_same.py::test_with_the_same_noise_answers_differ_by_the_units_share_alone": 1,
    "ledger/test_fire.py::test_50_threads_of_one_process": 3,
    "ledger/test_fire.py::test_a_budget_for_two_admits_two_of_45": 3,
    "ledger/test_sqlite.py::test_case_per_01_a_charge_costs_the_same_however_long_the_history": 0,
    "ledger/test_tampered.py::test_a_forged_chain_must_still_add_up": 12,
    "ledger/test_tampered.py::test_any_flipped_byte_is_either_harmless_or_told": 1,
    "ledger/test_tampered.py::test_each_edit_is_named_where_it_is": 15,
    "mechanisms/test_bad_input.py::test_a_bad_parameter_is_refused_in_words": 208,
    "mechanisms/test_bad_input.py::test_a_number_may_be_spelled_in_every_way": 21,
    "mechanisms/test_binomial_interval.py::test_every_true_count_is_covered": 24,
    "mechanisms/test_binomial_interval.py::test_the_radius_covers_every_count": 14,
    "mechanisms/test_discrete_gaussian.py::test_delta_is_the_hockey_stick_of_the_law": 15,
    "mechanisms/test_discrete_gaussian.py::test_rho_bounds_every_renyi_divergence_and_whole_orders_attain_it": 4,
    "mechanisms/test_discrete_gaussian.py::test_spending_meets_delta_and_the_next_smaller_variance_does_not": 6,
    "mechanisms/test_exponential.py::test_draws_follow_the_chances": 0,
    "mechanisms/test_gaussian.py::test_delta_between_all_neighbours_by_enumeration": 1,
    "mechanisms/test_grid.py::test_a_million_values_are_those_one_by_one": 0,
    "mechanisms/test_grid.py::test_doubles_become_the_whole_numbers_of_the_definition": 5,
    "mechanisms/test_hadamard_response.py::test_a_million_reports": 1,
    "mechanisms/test_hadamard_response.py::test_a_million_values_at_once": 0,
    "mechanisms/test_hadamard_response.py::test_laws_over_every_report": 2,
    "mechanisms/test_hadamard_response.py::test_the_interval_covers_every_truth": 0,
    "mechanisms/test_inverse_sensitivity.py::test_a_fine_grid_and_many_rows": 0,
    "mechanisms/test_inverse_sensitivity.py::test_lengths_and_law_by_enumeration": 5,
    "mechanisms/test_inverse_sensitivity.py::test_log_ratios_of_neighbours_span_at_most_epsilon": 1,
    "mechanisms/test_inverse_sensitivity.py::test_releases_follow_the_law": 0,
    "mechanisms/test_key_selection.py::test_keys_are_kept_with_their_chance": 1,
    "mechanisms/test_key_selection.py::test_the_draw_that_selects_may_be_released": 10,
    "mechanisms/test_key_selection.py::test_the_kept_set_is_as_private_as_promised": 7,
    "mechanisms/test_laplace.py::test_every_log_ratio_between_neighbours_is_within_epsilon": 1,
    "mechanisms/test_local_hashing.py::test_laws_over_every_report": 1,
    "mechanisms/test_noisy_max.py::test_draws_follow_the_law": 0,
    "mechanisms/test_noisy_max.py::test_loss_bounds_every_log_ratio": 1,
    "mechanisms/test_noisy_max.py::test_probabilities_are_the_sums_over_thresholds": 1,
    "mechanisms/test_permute_and_flip.py::test_draws_follow_the_law": 0,
    "mechanisms/test_propose_test_release.py::test_every_pair_of_neighbours_is_within_the_loss": 4,
    "mechanisms/test_propose_test_release.py::test_releases_follow_the_law": 0,
    "mechanisms/test_quantile.py::test_the_sensitivity_is_the_least_over_all_neighbours": 5,
    "mechanisms/test_randomised_response.py::test_a_million_reports": 1,
    "mechanisms/test_randomised_response.py::test_the_interval_covers_every_truth": 1,
    "mechanisms/test_smooth_noise.py::test_every_pair_of_neighbours_is_within_the_loss": 3,
    "mechanisms/test_smooth_noise.py::test_releases_follow_the_law": 1,
    "mechanisms/test_sparse_vector.py::test_loss_bounds_every_log_ratio": 1,
    "mechanisms/test_sparse_vector.py::test_runs_follow_the_law": 0,
    "mechanisms/test_staircase.py::test_masses_tails_and_means_are_those_of_the_definition": 9,
    "mechanisms/test_staircase.py::test_the_loss_is_the_worst_of_all_shifts_exactly": 5,
    "mechanisms/test_top_k.py::test_draws_are_one_shot_and_follow_the_law_of_peeling": 0,
    "mechanisms/test_top_k.py::test_loss_bounds_every_log_ratio": 1,
    "mechanisms/test_unary_encoding.py::test_a_million_reports": 1,
    "mechanisms/test_unary_encoding.py::test_the_interval_covers_every_truth": 1,
    "numbers/test_exact_product.py::test_records_at_halves": 10,
    "numbers/test_geometric_sums.py::test_series_agree_with_adding_up": 2,
    "plan/test_bind_relations.py::test_a_cohort_is_a_condition_on_the_unit": 10,
    "plan/test_bind_relations.py::test_a_subquery_by_the_unit": 11,
    "plan/test_canonical.py::test_a_changed_leaf_is_another_plan_or_none": 1,
    "plan/test_check_outputs.py::test_what_passes_is_computed_on_any_readings": 1,
    "plan/test_keys.py::test_a_plan_with_keys_agrees_with_its_catalog_and_makes_the_trip": 22,
    "plan/test_keys.py::test_keys_by_hand": 22,
    "plan/test_keys.py::test_unknown_keys_are_taken_where_they_are_declared_and_delta_is_there": 6,
    "plan/test_limits.py::test_a_batch_is_held_to_what_one_question_is": 1,
    "plan/test_limits.py::test_keys_are_named_or_refused_soon": 1,
    "plan/test_limits.py::test_keys_that_take_long_to_name_are_refused_soon": 0,
    "plan/test_limits.py::test_ordinary_keys_are_not": 2,
    "plan/test_merge.py::test_merging_is_invisible_and_reads_nothing_twice": 4,
    "plan/test_stability.py::test_replacing_a_unit_moves_no_further_than_any_two_units_differ": 144,
    "plans/test_newcomer.py::test_a_newcomers_statement": 21,
    "plots/test_composition.py::test_a_vector_has_an_upper_bound_alone": 0,
    "plots/test_composition.py::test_delta_is_between_its_bounds_and_below_the_simpler_methods": 0,
    "plots/test_figures.py::test_a_figure_is_what_its_command_draws": 1,
    "plots/test_figures.py::test_a_figure_of_many_is_what_its_command_draws": 0,
    "plots/test_figures.py::test_the_plain_commands_draw_the_same": 0,
    "plots/test_plot.py::test_noise_draws_its_law_its_loss_and_their_curves": 2,
    "privacy/test_distribution.py::test_delta_of_the_law_is_that_of_the_loss": 63,
    "privacy/test_families.py::test_delta_of_discrete_noise_is_the_sum_over_outcomes": 2,
    "privacy/test_families.py::test_epsilon_is_the_least_and_is_proved": 54,
    "privacy/test_families.py::test_mean_and_renyi_of_discrete_noise_are_the_sums_over_outcomes": 2,
    "privacy/test_family_facts.py::test_lattices_and_doubles_are_those_of_the_law": 54,
    "privacy/test_family_facts.py::test_the_measures_of_the_simplest_form_are_the_same": 54,
    "privacy/test_family_facts.py::test_what_is_attained_is_no_more_than_the_pair": 54,
    "privacy/test_family_facts.py::test_what_is_set_apart_and_the_rest_cover_the_pair": 54,
    "privacy/test_gaussian.py::test_sigma_is_the_least_of_its_figures_and_nothing_hangs": 12,
    "privacy/test_sampled.py::test_delta_is_that_of_the_mixture_both_ways": 18,
    "privacy/test_sampled.py::test_on_every_poisson_sample_of_every_small_table": 1,
    "privacy/test_sampled.py::test_on_every_sample_of_fixed_size_of_every_small_table": 1,
    "privacy/test_sampled.py::test_the_law_has_mass_one_and_its_own_delta": 26,
    "privacy/test_sampled_moments.py::test_beside_a_whole_order_it_is_what_it_is_there": 3,
    "privacy/test_sampled_moments.py::test_every_order_is_the_integral": 20,
    "receipts/test_casts.py::test_b6_every_plan_with_a_cast_is_one_of_its_catalog": 2,
    "receipts/test_printed.py::test_what_is_printed_holds_by_both": 8,
    "receipts/test_verify.py::test_every_claim_of_every_kind_changed_and_signed_again_is_caught": 4,
    "receipts/test_verify.py::test_what_is_consistent_by_itself_is_caught_from_outside": 5,
    "recipes/test_flights.py::test_caps_that_never_bind_give_the_plain_counts": 0,
    "recipes/test_flights.py::test_counts_and_sums_equal_plain_sql_that_bounds_units_by_itself": 1,
    "recipes/test_flights.py::test_the_recipe": 0,
    "recipes/test_flights_surface.py::test_a_batch_of_ten_is_the_ten_asked_alone": 0,
    "recipes/test_flights_surface.py::test_a_rehearsal_needs_no_flights_and_costs_nothing": 0,
    "recipes/test_flights_surface.py::test_count_mean_and_sum_by_carrier_and_month_with_listed_keys": 0,
    "recipes/test_flights_surface.py::test_count_mean_and_sum_by_carrier_and_month_with_unknown_keys": 1,
    "recipes/test_flights_surface.py::test_the_recipe": 0,
    "recipes/test_wagepan.py::test_scaled_units_are_scaled_as_the_meaning_says": 3,
    "release/test_finish.py::test_expressions_at_the_edges_finish": 44,
    "samplers/test_discrete_gaussian.py::test_a_place_is_kept_when_v_is_below_its_chance_and_only_then": 1,
    "samplers/test_discrete_gaussian.py::test_law": 5,
    "samplers/test_discrete_gaussian.py::test_law_of_python_ints": 2,
    "samplers/test_discrete_gaussian.py::test_law_of_single_draws": 2,
    "samplers/test_discrete_gaussian.py::test_one_draw_is_an_array_of_one": 9,
    "samplers/test_discrete_gaussian.py::test_the_fast_sampler_and_the_reference_have_one_law": 1,
    "samplers/test_discrete_gaussian.py::test_the_guide_is_right_for_the_first_and_last_word_of_every_beginning": 4,
    "samplers/test_discrete_gaussian.py::test_words_at_each_boundary_fall_on_the_right_side": 2,
    "samplers/test_discrete_laplace.py::test_law": 6,
    "samplers/test_discrete_laplace.py::test_law_of_single_draws": 1,
    "samplers/test_discrete_laplace.py::test_one_draw_is_an_array_of_one": 8,
    "samplers/test_discrete_laplace.py::test_the_chi_square_test_finds_broken_samplers": 6,
    "samplers/test_exponential_tail.py::test_bisection_over_all_words_finds_the_law_itself": 2,
    "samplers/test_exponential_tail.py::test_floats_are_right_at_every_distance_from_a_boundary": 5,
    "samplers/test_exponential_tail.py::test_the_boundary_words_and_their_neighbours_are_not_decided_in_floats": 9,
    "samplers/test_exponential_tail.py::test_words_at_each_boundary_fall_on_the_right_side": 3,
    "samplers/test_geometric.py::test_a_scale_five_per_cent_off_is_found": 5,
    "samplers/test_geometric_digits.py::test_middle_floats_are_right_at_every_distance_from_a_boundary": 3,
    "samplers/test_geometric_digits.py::test_middle_words_at_each_boundary_fall_on_the_right_side": 6,
    "samplers/test_gumbel_max.py::test_draws_follow_the_law": 1,
    "samplers/test_gumbel_max.py::test_floats_leave_out_nobody_who_could_win": 13,
    "samplers/test_gumbel_max.py::test_the_law_by_enumeration": 1,
    "samplers/test_reference.py::test_discrete_laplace": 1,
    "samplers/test_reference.py::test_discrete_laplace_from_bits": 1,
    "samplers/test_reference.py::test_enumeration_finds_broken_samplers": 2,
    "sensitivity/test_admissible.py::test_pure_losses_are_within_epsilon": 2,
    "sensitivity/test_bounded.py::test_combinations_are_never_below": 8,
    "sensitivity/test_bounded.py::test_each_rule_is_attained": 9,
    "sensitivity/test_smooth.py::test_it_is_the_maximum_and_it_is_smooth": 5,
    "sensitivity/test_windows.py::test_local_sensitivity_at_every_distance": 10,
    "snapshot/test_appending.py::test_the_rows_are_those_of_reading_everything": 1,
    "snapshot/test_cleaned.py::test_texts_mean_the_same_from_every_source": 2,
    "snapshot/test_cleaned.py::test_typed_values_too": 1,
    "snapshot/test_csv.py::test_c9_a_byte_order_mark_is_no_part_of_the_first_name_or_cell": 1,
    "snapshot/test_csv.py::test_only_the_broken_line_is_set_aside": 5,
    "snapshot/test_csv.py::test_paths_of_every_kind": 3,
    "snapshot/test_csv.py::test_rows": 5,
    "snapshot/test_csv.py::test_t10_without_a_header_a_mark_before_a_row_is_read_alike_wherever_the_row_stands": 4,
    "snapshot/test_dialect.py::test_a_line_is_read_as_it_is_alone_whatever_lines_are_beside_it": 2,
    "snapshot/test_frames.py::test_an_instant_past_the_calendar_harms_no_other_row": 2,
    "snapshot/test_frames.py::test_refused": 6,
    "snapshot/test_frames.py::test_t1_a_value_that_python_has_none_of_harms_no_other_row": 4,
    "snapshot/test_frames.py::test_the_same_rows_from_every_library": 6,
    "snapshot/test_frames.py::test_values_are_converted_exactly_or_not_at_all": 5,
    "snapshot/test_interrupted.py::test_a_file_that_is_replaced_while_it_is_read_is_told_and_nothing_of_it_is_used": 2,
    "snapshot/test_loading.py::test_t18_a_csv_file_is_read_alike_in_both_ways": 1,
    "snapshot/test_loading.py::test_t18_typed_sources_are_read_alike_in_both_ways": 1,
    "snapshot/test_refresh.py::test_a5_a_blank_line_is_a_row_where_each_row_is_a_unit_and_has_one_column": 3,
    "snapshot/test_refresh.py::test_a5_with_a_public_number_of_units_a_row_that_cannot_be_read_stays": 2,
    "snapshot/test_store.py::test_a_crash_at_any_step_leaves_a_whole_snapshot_in_force": 3,
    "snapshot/test_typed.py::test_a3_the_name_of_a_folder_replaces_no_column": 1,
    "snapshot/test_typed.py::test_a_parquet_file": 1,
    "snapshot/test_typed.py::test_files_that_are_not_what_they_are_called": 2,
    "snapshot/test_typed.py::test_unsigned_integers_of_128_bits_are_the_numbers_that_they_are": 2,
    "snapshot/test_vectorised.py::test_t18_columns_that_are_cleaned_or_formatted_have_a_form_too": 8,
    "snapshot/test_vectorised.py::test_t18_what_a_form_reads_the_grammar_reads_alike": 14,
    "standalone/test_command.py::test_a_catalog_that_declares_otherwise_is_told": 4,
    "standalone/test_command.py::test_exit_codes": 3,
    "standalone/test_command.py::test_hostile_values_in_any_place_are_a_no_and_never_a_crash": 0,
    "standalone/test_numbers.py::test_a_sum_from_below_the_middle_is_all_but_what_is_further_out": 1,
    "standalone/test_numbers.py::test_sums_of_a_gaussian_lie_between": 2,
    "standalone/test_numbers.py::test_the_least_variance_that_the_product_finds_is_accepted_with_hardly_any_room": 1,
    "standalone/test_reach.py::test_a_weaker_rule_would_be_seen": 1,
}

ALL: Final = sys.maxsize
EXAMPLES: Final = (15, 400)  # of each test of hypothesis that has no line
POWER: Final[dict[str, tuple[int, int]]] = {  # examples in an ordinary run, and in a long one
    "aggregates/test_bars.py::test_h2_the_quoted_bar_covers_the_noise_and_the_finished_interval": (12, 500),
    "curator/test_readings.py::test_any_sequence_of_questions_is_charged_for_new_readings_alone": (1, 25),
    "engines/test_conformance.py::test_every_engine_gives_the_integers_of_the_reference": (3, 250),  # in each of forty
    "engines/test_functions.py::test_a_function_gives_python_s_value_in_every_row": (1, 20),
    "attacks/test_adversary_surface.py::test_b6_every_small_output_is_one_that_can_be_computed": (150, ALL),
    "attacks/test_batch_as_one.py::test_row_22_amounts_chosen_in_the_light_of_answers_are_summed_as_points": (5, 20),
    "attacks/test_crash.py::test_row_19_a_kill_at_any_moment_loses_no_charge": (4, 15),  # in each of twelve
    "attacks/test_no_question_closes.py::test_row_10_no_accepted_question_can_fail_after_the_charge": (8, 250),
    "attacks/test_no_question_closes.py::test_row_10_the_same_through_the_whole_curator": (15, 40),
    "attacks/test_rows_values.py::test_row_10_what_could_raise_on_a_row_is_missing_on_both_engines": (12, ALL),
    "fronts/test_frame.py::test_a_question_is_one_request_whichever_front_asked_it": (6, 150),
    "fronts/test_frame.py::test_every_name_makes_the_trip": (20, 1000),
    "fronts/test_frame_rows.py::test_the_plan_of_a_frame_is_the_plan_of_its_sql": (25, 500),
    "fronts/test_frame.py::test_the_plan_of_a_frame_is_the_plan_of_its_sql": (20, 600),
    "fronts/test_fuzz.py::test_no_shape_of_tree_is_left_to_the_catch_all": (250, 20_000),
    "fronts/test_fuzz.py::test_only_a_plan_or_a_refusal_comes_out": (60, 20_000),  # in each of fifty
    "language/test_intervals.py::test_a_value_is_within_its_bounds": (40, 1500),
    "language/test_render.py::test_every_tree_parses_back_to_itself": (30, 1500),
    "laws/test_heart.py::test_counts_of_cut_units_move_by_one_whatever_the_caps_keys_and_clamps_are": (40, ALL),
    "laws/test_questions.py::test_every_law_holds_of_every_question": (12, 400),  # in each of four
    "ledger/test_decide.py::test_the_budget_holds_and_a_refusal_changes_nothing": (25, 1000),
    "numbers/test_display.py::test_no_digit_is_beyond_the_noise_and_the_error_is_rounded_up": (60, 4000),
    "numbers/test_enclosure.py::test_exp_turns_sums_into_products": (30, 1500),
    "numbers/test_enclosure.py::test_ln_undoes_exp": (30, 1500),
    "numbers/test_enclosure.py::test_operations_hold_what_the_reals_give": (25, 1500),
    "numbers/test_enclosure.py::test_powers_round_outward": (30, 1500),
    "numbers/test_interval.py::test_a_point_of_each_gives_a_point_of_the_result": (35, 4000),
    "plan/test_keys.py::test_a_row_of_listed_values_has_a_listed_key_or_none": (60, 5000),
    "plan/test_merge.py::test_merging_is_invisible_and_reads_nothing_twice": (4, 135),  # in each of 24
    "pricing/test_grids.py::test_sensitivity_from_the_rounded_bounds_holds_for_every_value": (70, 4000),
    "pricing/test_joint_guarantee.py::test_it_is_the_brackets_upper_end_rounded_up_and_above_the_lower_one": (3, 100),
    "pricing/test_joint_guarantee.py::test_one_more_loss_is_never_cheaper": (3, 100),
    "pricing/test_menu.py::test_a_price_meets_its_target_and_one_step_less_does_not": (15, 500),
    "pricing/test_prices.py::test_an_epsilon_in_a_rho_ledger_is_worth_at_most_itself": (12, 400),
    "pricing/test_selecting.py::test_the_rules_promise_is_within_what_is_charged": (20, 800),
    "receipts/test_verify.py::test_a_plan_changed_with_its_digest_is_caught_where_sensitivity_rests_on_it": (60, ALL),
    "receipts/test_verify.py::test_every_changed_leaf_is_caught_by_the_signature": (60, ALL),
    "receipts/test_verify.py::test_every_claim_changed_and_signed_again_is_caught_by_deriving_it_again": (80, ALL),
    "receipts/test_verify.py::test_every_claim_of_every_kind_changed_and_signed_again_is_caught": (40, ALL),  # of six
    "sensitivity/test_admissible.py::test_pure_losses_are_within_epsilon": (1, ALL),  # of three, in each of six
    "snapshot/test_cleaned.py::test_without_one_person_the_rows_of_all_others_are_what_they_were": (4, 300),
    "snapshot/test_csv.py::test_t17_any_text_is_read_alike_in_any_chunks": (25, 3000),
    "snapshot/test_csv.py::test_t17_chunks_show_in_nothing": (40, 4000),
    "snapshot/test_repeats.py::test_what_stays_is_the_definition_in_any_order_and_unit_by_unit": (7, 400),
    "snapshot/test_grammar.py::test_a_batch_agrees_with_each_cell_by_itself": (60, 3000),
    "snapshot/test_grammar.py::test_typed_batches_agree_with_each_value_and_never_raise": (60, 3000),
    "snapshot/test_refresh.py::test_taking_a_row_out_of_a_typed_source_takes_exactly_that_row_out": (2, 60),
    "snapshot/test_vectorised.py::test_t18_what_a_form_reads_the_grammar_reads_alike": (2_500, 1_000_000),  # of each
}

REGISTRY: Final = (  # files, or functions of files
    "aggregates/test_aggregates.py::test_the_tuple_is_the_folder",
    "catalog/test_docs.py",
    "docs/test_complete.py",
    "docs/test_guarantees.py",
    "docs/test_promised.py",
    "engines/test_conformance.py::test_the_tuple_names_every_engine_in_the_folder",
    "engines/test_vectors.py::test_every_function_has_vectors_and_every_vector_a_function",
    "laws/test_directions.py",
    "laws/test_every_mechanism.py::test_every_class_has_a_world_or_a_reason",
    "laws/test_power.py",
    "mechanisms/test_registry.py",
    "standalone/test_forms.py",
)
LONG: Final = (  # half a second or more, one of its cases
    "accounting/test_calibrate.py::test_every_search_ends_soon",
    "accounting/test_calibrate.py::test_on_samples_the_target_is_met_and_a_little_less_noise_does_not",
    "accounting/test_composition.py::TestLaws::test_epsilon_and_delta_are_each_others_inverse",
    "accounting/test_composition.py::TestLaws::test_losses_in_the_thousands_have_both_bounds",
    "accounting/test_composition.py::TestLaws::test_many_bounded_ranges_are_cheaper_than_the_law_that_dominates_each",
    "accounting/test_composition.py::TestLaws::test_splitting_a_gaussian_changes_nothing",
    "accounting/test_composition.py::TestLaws::test_the_grid_fits_the_atoms_of_most_losses_where_not_all_fit",
    "accounting/test_composition.py::TestWhatOthersGotWrong::test_many_different_mechanisms_are_no_trouble",
    "accounting/test_composition.py::TestWhatOthersGotWrong::test_renyi_orders_on_a_grid_are_no_limit",
    "accounting/test_contour.py::test_both_sides_of_the_rule",
    "accounting/test_oracles.py::test_the_bracket_holds_what_is_known",
    "accounting/test_pld.py::test_the_bracket_holds_the_direct_sum",
    "accounting/test_sampled_oracles.py::test_a_small_delta_is_no_smaller_than_round_off_lets_it_be",
    "accounting/test_sampled_oracles.py::test_adding_a_row",
    "accounting/test_sampled_oracles.py::test_many_steps_are_certified",
    "accounting/test_sampled_oracles.py::test_replacing_is_not_adding_or_removing",
    "accounting/test_sampled_oracles.py::test_the_worse_direction_is_taken_after_composing",
    "accounting/test_sampled_pld.py::test_the_bracket_holds_the_direct_sum_of_the_worse_direction",
    "attacks/test_adversary_surface.py::test_an_answer_too_large_for_memory_is_refused_before_the_charge",
    "attacks/test_adversary_surface.py::test_no_depth_of_calls_makes_an_answer_fail_after_the_charge",
    "attacks/test_batch.py::test_row_10_a_batch_too_large_for_one_statement_is_refused_before_it_is_charged",
    "attacks/test_batch.py::test_row_18_two_processes_pay_one_batch_once",
    "attacks/test_crash.py::test_row_19_a_kill_at_any_moment_loses_no_charge",
    "attacks/test_fire.py::test_row_18_a_budget_for_two_answers_two_of_all",
    "attacks/test_no_question_closes.py::test_row_10_no_accepted_question_can_fail_after_the_charge",
    "attacks/test_no_question_closes.py::test_row_10_the_same_through_the_whole_curator",
    "attacks/test_rows_system.py::test_row_29_averaging_repeats_gains_nothing",
    "attacks/test_rows_values.py::test_row_01_no_expression_escapes_its_clamp",
    "attacks/test_rows_values.py::test_row_27_nothing_is_clamped_by_a_private_size",
    "audit/test_copies.py::test_a_slow_function_is_left_where_the_time_ends",
    "audit/test_divergences.py::test_rho_of_the_whole_laws_is_more_than_that_of_an_event",
    "audit/test_known.py::test_broken_ones_are_flagged",
    "audit/test_known_mistakes.py::test_a_known_mistake_is_found_with_a_witness",
    "audit/test_laws.py::test_no_mechanism_of_ours_is_found_to_break_its_loss_and_each_breaks_less",
    "audit/test_laws.py::test_our_reference_sampler_against_its_law",
    "audit/test_run.py::test_a_slow_function_is_drawn_from_as_often_as_time_allows",
    "audit/test_self_audit.py::test_a_mistake_of_the_engine_is_found",
    "audit/test_self_audit.py::test_no_generated_plan_breaks_its_claims",
    "break_me/test_break_me.py::test_a_mistake_is_found_with_a_small_witness",
    "break_me/test_break_me.py::test_a_rule_weakened_is_found_with_unknown_keys",
    "break_me/test_break_me.py::test_beside_a_snapshot_no_row_of_it_and_no_ledger_is_read",
    "break_me/test_break_me.py::test_keys_of_a_public_table_and_a_second_table_are_asked_too",
    "break_me/test_break_me.py::test_questions_reach_the_whole_surface_and_are_nearly_always_answered",
    "break_me/test_break_me.py::test_the_command_needs_no_data_and_touches_nothing",
    "break_me/test_break_me.py::test_the_same_seed_tries_the_same",
    "break_me/test_break_me.py::test_what_is_right_passes",
    "cases/test_expressions.py::test_tim_01_day_buckets_do_not_depend_on_the_machine",
    "cases/test_ledger.py::test_bud_03_fifty_threads_and_eight_processes_get_ten_tenths",
    "cases/test_selection.py::test_sel_07_a_median_of_many_zeros_is_zero",
    "catalog/test_positions.py::test_any_name_can_be_written_and_found",
    "cli/test_account.py::test_a_file_of_losses",
    "cli/test_account.py::test_progress_tells_bounds_that_only_get_better",
    "cli/test_account.py::test_three_numbers_are_told_apart",
    "cli/test_batches.py::test_as_one_shows_sum_and_point_before_and_after",
    "cli/test_batches.py::test_receipts_are_printed_by_number_or_all_and_verify",
    "cli/test_commands.py::test_a_newcomers_path",
    "cli/test_commands.py::test_demo",
    "cli/test_commands.py::test_every_command_has_help_with_an_example",
    "cli/test_commands.py::test_it_runs_as_a_program",
    "cli/test_commands.py::test_json_of_every_command",
    "cli/test_commands.py::test_receipts_verify_and_a_changed_byte_does_not",
    "cli/test_commands.py::test_what_a_broken_file_tells_and_whom",
    "cli/test_currencies.py::test_a_ledger_in_rho",
    "cli/test_module.py::test_its_exit_codes_are_those_of_the_command",
    "cli/test_plot.py::test_every_chart_of_every_noise_is_written_and_that_is_said",
    "cli/test_plot.py::test_json_is_written_too_where_a_file_is_named",
    "cli/test_plot.py::test_options_are_as_they_say",
    "cli/test_plot.py::test_without_a_file_s_name_it_is_the_chart_s_and_svg",
    "cli/test_unknown_keys.py::test_every_command_takes_it",
    "curator/test_batching.py::test_a_receipt_that_lies_about_its_batch_is_caught",
    "curator/test_batching_as_one.py::test_it_is_charged_the_certified_point_and_every_receipt_holds",
    "curator/test_batching_as_one.py::test_short_of_delta_it_is_refused_and_nothing_is_charged",
    "curator/test_history.py::test_it_is_the_certified_bound_on_the_losses_of_every_charge",
    "curator/test_history.py::test_many_kinds_are_rounded_up_to_few",
    "curator/test_rehearsal.py::test_the_engine_says_what_the_reference_says",
    "docs/test_guarantees.py::test_a_row_names_code_and_tests_that_exist",
    "engines/test_by_hand.py::test_a_mistake_in_the_query_fails_a_table",
    "engines/test_conformance.py::test_every_engine_gives_the_integers_of_the_reference",
    "engines/test_duckdb.py::test_an_interrupt_is_the_users_and_not_a_fault",
    "engines/test_functions.py::test_a_function_gives_python_s_value_in_every_row",
    "engines/test_levels.py::test_a_tree_with_more_parts_than_allowed_is_refused_before_it_is_written",
    "engines/test_levels.py::test_thirty_deep_is_short_and_runs",
    "engines/test_mutations.py::test_a_mistake_is_found",
    "engines/test_together.py::test_each_merged_plan_holds_each_question_once_and_each_sum_once",
    "engines/test_together.py::test_questions_under_conditions_of_their_own_are_read_and_grouped_at_once",
    "engines/test_together.py::test_together_is_one_by_one",
    "engines/test_vectors.py::test_in_python",
    "gallery/test_pictures.py::test_a_picture_is_what_its_page_draws",
    "language/test_intervals.py::test_a_value_is_within_its_bounds",
    "language/test_predicates.py::test_chains_are_flat_and_long_ones_are_taken",
    "language/test_zones.py::test_a_zone_is_zoneinfo_s",
    "laws/test_directions.py::test_every_room_is_in_the_table_and_uses_each_line_of_it",
    "laws/test_directions.py::test_no_other_randomness_is_imported",
    "laws/test_directions.py::test_randomness_has_few_users",
    "laws/test_every_mechanism.py::test_a_smaller_promise_would_be_found_out",
    "laws/test_every_mechanism.py::test_the_masses_sum_to_one",
    "laws/test_every_mechanism.py::test_what_is_said_to_be_attained_is",
    "laws/test_exact.py::test_it_is_made_by_engines_alone",
    "laws/test_exact.py::test_it_is_opened_in_exactly_one_place",
    "laws/test_exact.py::test_its_slot_is_touched_in_its_own_class_only",
    "laws/test_exact.py::test_no_name_of_it_is_built_at_run_time",
    "laws/test_exact.py::test_noise_is_left_out_over_made_up_rows_alone",
    "laws/test_heart.py::test_no_unit_moves_a_reading_further_than_it_claims",
)
QUICK: Final = 2  # cases of a test in a quick run
Item = TypeVar("Item")


class Run:
    """Whether this run is a long one, `-m slow`; tests/conftest.py says so before any test is read."""

    whole = False


def tries_of(name: str) -> int:
    """How many examples the test tries in this run. name: as in POWER."""
    if name not in POWER:
        raise LookupError(f"tests/support/power.py has no line for {name} in POWER: add its two numbers of examples")
    return POWER[name][Run.whole]


def share_of(name: str, items: Sequence[Item]) -> list[Item]:
    """So many of the items as the test tries in this run, by lot, in their order. name: also with its case in []."""
    most = tries_of(name.partition("[")[0])
    taken = range(len(items))
    if most < len(items):
        taken = sorted(random.Random(name).sample(taken, most))  # type: ignore[assignment]
    return [items[number] for number in taken]


def tried(test: Callable[..., Any]) -> Any:
    """A test of hypothesis that tries as many examples as POWER says. It stands below `given`."""
    from hypothesis import HealthCheck, settings

    file = Path(test.__code__.co_filename).relative_to(Path(__file__).parents[1]).as_posix()
    tries = tries_of(f"{file}::{test.__qualname__.replace('.', '::')}")
    return settings(max_examples=tries, suppress_health_check=list(HealthCheck))(test)


def function_of(nodeid: str) -> str:
    """tests/room/test_x.py::Class::test_y[case] as room/test_x.py::Class::test_y."""
    return nodeid.split("[", 1)[0].removeprefix("tests/")


def left_to_slow_runs(nodeids: list[str]) -> set[str]:
    """Which of these tests the ordinary run leaves out. nodeids: in the order in which they were collected."""
    cases: dict[str, list[str]] = defaultdict(list)
    for nodeid in nodeids:
        cases[function_of(nodeid)].append(nodeid)
    left: set[str] = set()
    for name, most in SAMPLED.items():
        own = cases.get(name, [])
        if most < len(own):
            left |= set(own) - {own[len(own) * n // most] for n in range(most)}
    return left


def for_examples(law: Callable[..., Any], *strategies: Any, part: int, tries: int) -> None:
    """Try a law on so many examples: those of part `part`, so that a long run is in parts of a minute at most."""
    from hypothesis import HealthCheck, given, seed, settings

    seed(part)(settings(max_examples=tries, suppress_health_check=list(HealthCheck))(given(*strategies)(law)))()


def table(nodeids: list[str]) -> list[str]:
    """What each law tries: its name, the number in an ordinary run, and in a long one. nodeids: all that there are."""
    cases: dict[str, int] = defaultdict(int)
    for nodeid in nodeids:
        cases[function_of(nodeid)] += 1
    rows = [(name, f"{min(most, cases[name])} of {cases[name]} cases", f"{max(cases[name] - most, 0)} more cases")
            for name, most in SAMPLED.items() if name in cases]
    rows += [(name, str(few), "all" if most == ALL else str(most)) for name, (few, most) in POWER.items()
             if name in cases]
    wide = max((len(name) for name, *_ in rows), default=0)
    return [f"{name:{wide}}  {few:>18}  {most:>18}" for name, few, most in sorted(rows)]


def in_part(nodeid: str, part: tuple[int, int]) -> bool:
    """Whether a test belongs to part K of N. Cases of one test go to different parts."""
    number, parts = part
    return zlib.crc32(nodeid.encode()) % parts == number % parts


def part_of(text: str) -> tuple[int, int]:
    """ "3/8" as (3, 8)."""
    number, _, parts = text.partition("/")
    if not (number.isdigit() and parts.isdigit() and int(parts) > 0):
        raise ValueError("--part takes two numbers, as in --part 3/8")
    return int(number), int(parts)


def is_registry(nodeid: str) -> bool:
    """Whether a test tells what is not registered."""
    return function_of(nodeid).startswith(REGISTRY)


def quick(nodeids: list[str]) -> set[str]:
    """The tests of a quick run: the first cases of each test, none of the long ones, no documents."""
    cases: dict[str, int] = defaultdict(int)
    kept: set[str] = set()
    for nodeid in nodeids:
        name = function_of(nodeid)
        cases[name] += 1
        if cases[name] <= QUICK and name not in LONG and not name.startswith("docs/test_documents"):
            kept.add(nodeid)
    return kept
